// DictBlocks: dicts of a trainer that come in blocks. A program that writes to
// a pipe keeps them until there are many, while its bars, which go another way,
// are seen at once. Each dict is given the step that the bars around its block
// say, "{'step': 10, 'loss': 2.31, ...".

#ifndef NANWATCH_LOGS_DICT_BLOCKS_H_
#define NANWATCH_LOGS_DICT_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

class DictBlocks {
 public:
  // Called once for each line that was taken, in their order.
  using LineSink = std::function<void(std::string_view line)>;
  explicit DictBlocks(LineSink sink) : sink_(std::move(sink)) {}

  void Take(std::string_view line);
  // Nothing more follows, or not soon: the block is over.
  void Flush();

  static constexpr size_t kMost = 4096;  // dicts of a block

 private:
  // Notes how far the training's bar has come.
  void ReadBar(std::string_view line);
  // Returns the steps from one dict of the block to the next; 0: not known.
  int64_t StrideOf(int64_t dicts) const;

  const LineSink sink_;
  std::vector<std::string> held_;  // a block so far
  std::string newest_bar_;         // that is not read yet; empty: none
  bool one_by_one_ = false;        // they do not come in blocks
  int64_t total_ = 0;              // of the training's bar; 0: none was seen
  int64_t bar_ = 0;                // how far it has come
  int64_t step_ = 0;               // of the newest dict
  int64_t stride_ = 0;             // of the newest block; 0: none so far
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_DICT_BLOCKS_H_
