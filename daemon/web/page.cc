#include "web/page.h"

#include <map>
#include <string>
#include <utility>

#include "metrics/negotiate.h"
#include "web/gzip.h"
#include "web/page_files.h"

namespace nanwatch {
namespace {

std::string_view TypeOf(std::string_view name) {
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/html; charset=utf-8";
}

struct Packed {
  std::string_view plain;
  std::optional<std::string> gzipped;
};

// By name. Packed once for all that ask.
const std::map<std::string_view, Packed>& Files() {
  static const auto* files = [] {
    auto* made = new std::map<std::string_view, Packed>;
    for (const PageFile& file : PageFiles()) {
      (*made)[file.name] = {file.bytes, Gzip(file.bytes, GzipLevel::kSmall)};
    }
    return made;
  }();
  return *files;
}

HttpReply Reply(std::string_view name, const Packed& file,
                std::string_view accept_encoding) {
  HttpReply reply;
  reply.content_type = TypeOf(name);
  reply.handler = "page";
  reply.gzipped = file.gzipped && AcceptsGzip(accept_encoding);
  reply.body = reply.gzipped ? *file.gzipped : std::string(file.plain);
  reply.etag = PageVersion();
  return reply;
}

}  // namespace

std::optional<HttpReply> AnswerPage(std::string_view path,
                                    std::string_view accept_encoding) {
  if (path == "/") {
    const auto found = Files().find("index.html");
    HttpReply reply = Reply(found->first, found->second, accept_encoding);
    reply.keep = HttpReply::Keep::kAskAgain;
    return reply;
  }
  if (!path.starts_with("/page/")) return std::nullopt;
  path.remove_prefix(6);
  const size_t slash = path.find('/');
  const auto found = slash == std::string_view::npos
                         ? Files().end()
                         : Files().find(path.substr(slash + 1));
  if (found == Files().end()) {
    return ErrorReply(404, "The page has no such file.", path.substr(0, 256),
                      "Start at /.");
  }
  HttpReply reply = Reply(found->first, found->second, accept_encoding);
  // Of another version: a page that was loaded before the daemon changed.
  reply.keep = path.substr(0, slash) == PageVersion()
                   ? HttpReply::Keep::kForEver
                   : HttpReply::Keep::kAskAgain;
  return reply;
}

}  // namespace nanwatch
