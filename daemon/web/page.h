// The page: its document, and its files under /page/VERSION/.

#ifndef NANWATCH_WEB_PAGE_H_
#define NANWATCH_WEB_PAGE_H_

#include <optional>
#include <string_view>

#include "web/http.h"

namespace nanwatch {

// Of "/" and of anything under "/page/"; nullopt: another path. Packed where
// `accept_encoding` takes it. Any thread.
std::optional<HttpReply> AnswerPage(std::string_view path,
                                    std::string_view accept_encoding);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_PAGE_H_
