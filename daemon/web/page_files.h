// The files of the page, dashboards/web, as they were at the build.

#ifndef NANWATCH_WEB_PAGE_FILES_H_
#define NANWATCH_WEB_PAGE_FILES_H_

#include <span>
#include <string_view>

namespace nanwatch {

struct PageFile {
  std::string_view name;  // "main.js"
  std::string_view bytes;
};

// The first is index.html.
std::span<const PageFile> PageFiles();

// A hash of all of them, 12 hexadecimal digits: another file, another version.
std::string_view PageVersion();

}  // namespace nanwatch

#endif  // NANWATCH_WEB_PAGE_FILES_H_
