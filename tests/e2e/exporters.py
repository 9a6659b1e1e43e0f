"""What dcgm-exporter and npu-exporter say of devices: REPLAYED TEXT, made after
their documented metrics and labels, since no device is here. Hosts node-0 to
node-3 have a GPU each; node-1 has an Ascend NPU, too.

Sources: etc/default-counters.csv and the README of dcgm-exporter (ECC counters
are comments there, to be switched on); the metrics reference of npu-exporter.
"""

import http.server
import threading

NPU = 5  # its number on node-1
XID = 48  # "double bit ECC error", as NVIDIA's list of Xids has it
NPU_ERROR = 80818002


def uuid(host):
    return f"GPU-00000000-0000-0000-0000-00000000000{host}"


def gpu(host, xid=0, double=0, single=0, temperature=61):
    labels = (f'gpu="0",UUID="{uuid(host)}",pci_bus_id="00000000:53:00.0",'
              f'device="nvidia0",modelName="NVIDIA H100 80GB HBM3",'
              f'Hostname="node-{host}"')
    # What a GPU does not have is a "blank" of 2^63 less some.
    memory = 9223372036854775794
    return "".join(f"{name}{{{labels}}} {value}\n" for name, value in (
        ("DCGM_FI_DEV_GPU_TEMP", temperature),
        ("DCGM_FI_DEV_MEMORY_TEMP", memory),
        ("DCGM_FI_DEV_XID_ERRORS", xid),
        ("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", single),
        ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", double)))


def npu(number, error=0, double=0, temperature=52):
    labels = (f'id="{number}",model_name="910B",vdie_id="",pcie_bus_info="",'
              'namespace="",pod_name="",container_name=""')
    return "".join(f"{name}{{{labels}}} {value}\n" for name, value in (
        ("npu_chip_info_temperature", temperature),
        ("npu_chip_info_error_code", error),
        ("npu_chip_info_hbm_ecc_single_bit_error_cnt", 0),
        ("npu_chip_info_hbm_ecc_double_bit_error_cnt", double)))


# Node 2's GPU is broken, node 3's cannot count.
PAGES = {
    "/dcgm": gpu(0) + gpu(1) + gpu(2, xid=XID, double=2, single=7,
                                   temperature=88)
             + gpu(3, double=9223372036854775794),
    "/npu": npu(0) + npu(NPU, error=NPU_ERROR, double=1),
}


class Exporters:
    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(PAGES[self.path].encode())

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def scrapes(self):
        """Of a list of scrape configurations. npu-exporter's `instance` has the
        name of the host."""
        at = f"127.0.0.1:{self.server.server_port}"
        return f"""
  - job_name: dcgm
    metrics_path: /dcgm
    scrape_interval: 500ms
    scrape_timeout: 500ms
    static_configs: [{{targets: ["{at}"]}}]
  - job_name: npu
    metrics_path: /npu
    scrape_interval: 500ms
    scrape_timeout: 500ms
    static_configs: [{{targets: ["{at}"], labels: {{instance: "node-1:8082"}}}}]
"""

    def close(self):
        self.server.shutdown()
        self.server.server_close()
