"""What a real relay says to a real upstream: a server between the two that
passes every message on, and writes down what the relay said."""

import queue
import struct
import threading
import time
from concurrent import futures

import grpc

METHOD = "/nanwatch.v1.IngestService/Ingest"
HEAD = struct.Struct("<qI")  # Unix microseconds, bytes of the message


class Recorder(grpc.GenericRpcHandler):
    """Listens on a port of the loopback; `path` has a head and the bytes of each
    message of the relay, in their order."""

    def __init__(self, path, upstream):
        self.file = open(path, "wb")
        self.lock = threading.Lock()
        self.channel = grpc.insecure_channel(upstream)
        self.server = grpc.server(futures.ThreadPoolExecutor(8))
        self.server.add_generic_rpc_handlers((self,))
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def service(self, details):
        if details.method == METHOD:
            return grpc.stream_stream_rpc_method_handler(self._pass)
        return None

    def _pass(self, messages, context):
        said = queue.SimpleQueue()

        def read():
            try:
                for message in messages:
                    with self.lock:
                        self.file.write(HEAD.pack(int(time.time() * 1e6),
                                                  len(message)) + message)
                    said.put(message)
            except Exception:  # the relay's end of its stream
                pass
            said.put(None)

        threading.Thread(target=read, daemon=True).start()
        yield from self.channel.stream_stream(METHOD)(iter(said.get, None))

    def close(self):
        self.server.stop(1).wait()
        self.channel.close()
        self.file.close()
