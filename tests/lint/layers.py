"""The layer table of daemon/DESIGN.md as data: who may include whom."""

# folder -> (folders it may include, third-party headers that it may include).
# Every folder may include itself.
BELOW_APP = {
    "base", "model", "net", "metrics", "wire", "alert", "compare", "dumps", "diagnose",
    "detect",
    "scaler", "logs", "notify", "history", "engine", "json", "web", "rpc",
    "relay", "push", "config",
}
FOLDERS = {
    "base": (set(), {"spdlog/"}),
    "model": ({"base"}, set()),
    "net": ({"base"}, {"curl/", "openssl/"}),
    "metrics": ({"model", "base"}, {"prometheus/"}),
    "wire": (
        {"model", "base"}, {"nanwatch/v1/", "google/protobuf/", "openssl/"},
    ),
    "alert": ({"model", "base"}, set()),
    "compare": ({"model", "base"}, set()),
    # The client's digests and sketches.
    "dumps": ({"compare", "model", "base"}, {"nanwatch_sketch.h"}),
    # TensorBoard's event files, read with protobuf's CodedInputStream.
    "logs": ({"model", "base"}, {"google/protobuf/io/"}),
    "diagnose": ({"scaler", "model", "base"}, set()),
    "scaler": ({"model", "base"}, set()),
    "detect": ({"scaler", "model", "base"}, set()),
    "notify": ({"net", "alert", "model", "base"}, {"nlohmann/"}),
    "history": (
        {"wire", "model", "base"},
        {"sqlite3.h", "zstd.h", "nanwatch/v1/"},
    ),
    "engine": (
        {"detect", "diagnose", "alert", "scaler", "model", "base"},
        set(),
    ),
    "json": ({"model", "base"}, {"nlohmann/", "google/protobuf/"}),
    "web": (
        {"json", "history", "metrics", "wire", "net", "model", "base"},
        {"crypt.h", "openssl/", "zlib.h", "nlohmann/"},
    ),
    "rpc": (
        {"history", "wire", "net", "model", "base"},
        {"grpcpp/", "grpc/", "nanwatch/v1/", "google/protobuf/", "openssl/"},
    ),
    "relay": (
        {"rpc", "history", "wire", "model", "base"},
        {"grpcpp/", "grpc/", "nanwatch/v1/", "openssl/"},
    ),
    "push": (
        {"rpc", "history", "net", "model", "base"},
        {"nanwatch/push/v1/", "snappy", "grpcpp/", "grpc/", "google/protobuf/"},
    ),
    # Headers that declare Options; the lint checks folders, review the rest.
    "config": (BELOW_APP - {"config"}, {"yaml-cpp/", "openssl/"}),
    "app": (BELOW_APP, {"systemd/"}),
    "cli": (
        BELOW_APP | {"app"},
        {"CLI/", "openssl/", "google/protobuf/", "nanwatch/v1/", "nlohmann/",
         "zlib.h", "zstd.h"},
    ),
    # main.cc
    "": (BELOW_APP | {"app", "cli"}, {"CLI/"}),
}
# Folders without a clock, log, lock, thread or I/O.
PURE = {
    "model", "scaler", "detect", "diagnose", "alert", "compare", "engine",
    "dumps", "logs",
}
PURE_BANNED = {
    "thread", "mutex", "condition_variable", "atomic", "future", "fstream",
    "iostream", "filesystem", "random", "ctime", "unistd.h", "base/clock.h",
    "base/log.h", "base/mutex.h", "base/mailbox.h", "base/published.h",
    "base/file.h",
}
# POSIX and language headers need no entry; what is listed here is third-party.
THIRD_PARTY = (
    "spdlog/", "curl/", "prometheus/", "nanwatch/v1/", "nanwatch/push/v1/",
    "google/protobuf/", "nlohmann/", "sqlite3.h", "zstd.h", "openssl/", "zlib.h",
    "crypt.h", "nanwatch_sketch.h", "grpcpp/", "grpc/", "yaml-cpp/", "systemd/", "CLI/", "re2/",
    "snappy", "absl/",
)
# base/log.h wraps spdlog; its bundled formatter is used everywhere.
ALLOWED_EVERYWHERE = ("spdlog/fmt/",)
