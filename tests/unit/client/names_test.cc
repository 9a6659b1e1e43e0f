#include "client_lib/src/names.h"

#include <gmock/gmock.h>

#include <string>

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;
using ::testing::ElementsAre;

nanwatch_op Op(const char* name) {
  nanwatch_op op;
  nanwatch_op_init(&op, name);
  return op;
}

TEST(NamesTest, AnOpsIndexIsItsPlace) {
  Names names;
  EXPECT_EQ(names.AddOp(Op("a")), 0);
  EXPECT_EQ(names.AddOp(Op("b")), 1);
  EXPECT_EQ(names.ops(), 2u);
  v1::OpNames copied;
  EXPECT_EQ(names.Copy(1, 10, &copied), 1u);
  EXPECT_EQ(copied.first_index(), 1u);
  EXPECT_EQ(copied.ops(0).name(), "b");
  v1::OpNames none;
  EXPECT_EQ(names.Copy(2, 10, &none), 0u);
}

TEST(NamesTest, AnOpTooManyIsToldAndCounts) {
  Names names;
  for (int i = 0; i < 65536; ++i) ASSERT_EQ(names.AddOp(Op("a")), i);
  EXPECT_FALSE(names.full());
  std::string why;
  EXPECT_EQ(names.AddOp(Op("last"), &why), -1);
  EXPECT_EQ(why,
            "the op \"last\" is one too many: 65536 ops of a session are "
            "watched");
  EXPECT_TRUE(names.full());
}

TEST(NamesTest, AnOpWithoutANameOrWithAnImpossibleShapeIsNone) {
  Names names;
  EXPECT_EQ(names.AddOp(Op(nullptr)), -1);
  EXPECT_EQ(names.AddOp(Op("")), -1);
  nanwatch_op op = Op("a");
  const int64_t shape[] = {4, -1};
  op.logical_shape = shape;
  op.logical_dims = 2;
  EXPECT_EQ(names.AddOp(op), -1);
  const int64_t huge[] = {INT64_MAX, INT64_MAX};
  op.logical_shape = huge;
  EXPECT_EQ(names.AddOp(op), -1);
  op.logical_dims = 17;
  EXPECT_EQ(names.AddOp(op), -1);
  EXPECT_EQ(names.ops(), 0u);
}

TEST(NamesTest, OpsAreBounded) {
  Names names;
  for (int i = 0; i < 65536; ++i) {
    ASSERT_EQ(names.AddOp(Op(std::to_string(i).c_str())), i);
  }
  EXPECT_EQ(names.AddOp(Op("one more")), -1);
}

TEST(NamesTest, OptimizersCountFromOneAndAreBounded) {
  Names names;
  EXPECT_EQ(names.AddOptimizer(nullptr), 0);
  EXPECT_EQ(names.AddOptimizer("adam"), 1);
  EXPECT_EQ(names.AddOptimizer("sgd"), 2);
  EXPECT_EQ(names.AddOptimizer("adam"), 1);
  EXPECT_THAT(names.optimizers(), ElementsAre("adam", "sgd"));
  for (int i = 3; i <= 7; ++i) {
    EXPECT_EQ(names.AddOptimizer(std::to_string(i).c_str()), i);
  }
  EXPECT_EQ(names.AddOptimizer("an eighth"), 0);
}

TEST(NamesTest, RefusedOpsAreUnknownUntilTheNextStream) {
  Names names;
  for (const char* name : {"a", "b", "c"}) names.AddOp(Op(name));
  names.RefuseFrom(1);
  EXPECT_TRUE(names.refused());
  EXPECT_EQ(names.ops(), 1u);
  names.RefuseFrom(2);
  EXPECT_EQ(names.ops(), 1u) << "the lowest counts";
  EXPECT_EQ(names.AddOp(Op("d")), 3);
  EXPECT_EQ(names.ops(), 1u);
  names.Allow();
  EXPECT_FALSE(names.refused());
  EXPECT_EQ(names.ops(), 4u);
}

}  // namespace
}  // namespace nanwatch_client
