#include "text.h"

#include <gmock/gmock.h>

#include "vocabulary.h"

namespace word2vec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TextTest, DropsHeadingsVerseNumbersAndGenitives) {
  EXPECT_THAT(Words("\nGenesis 1\n\n"
                    "  1 In the beginning, Abraham's God\n"
                    "created the heaven.\n"),
              ElementsAre("in", "the", "beginning", "abraham", "god", "created",
                          "the", "heaven"));
}

TEST(TextTest, MissingFileIsNamed) {
  EXPECT_THAT(ReadText("/no/such/text").error, HasSubstr("/no/such/text"));
}

TEST(TextTest, VocabularyKeepsFrequentWordsInOrderOfFrequency) {
  std::vector<std::string> words;
  for (int i = 0; i < 6; ++i) words.push_back("bread");
  for (int i = 0; i < 9; ++i) words.push_back("water");
  words.push_back("rare");
  const Vocabulary vocabulary(words);
  ASSERT_EQ(vocabulary.size(), 2u);
  EXPECT_EQ(vocabulary.word(0), "water");
  EXPECT_EQ(vocabulary.Find("bread"), 1);
  EXPECT_EQ(vocabulary.Find("rare"), -1);
  EXPECT_EQ(vocabulary.text().size(), 15u);
}

}  // namespace
}  // namespace word2vec
