// SPDX-License-Identifier: Apache-2.0
// Each schema and array owns its children, as the specification requires: a consumer may move a
// child out and release the parent first.
#include "epilogue/c/arrow_stream.h"

#include <cerrno>
#include <new>
#include <string>
#include <utility>

namespace epi::c {
namespace {

using Type = ColumnBuilder::Type;

// Releases a schema or an array that nobody has moved out.
struct Release {
  template <typename Struct>
  void operator()(Struct* owned) const {
    if (owned->release != nullptr) owned->release(owned);
    delete owned;
  }
};
using OwnedSchema = std::unique_ptr<ArrowSchema, Release>;
using OwnedArray = std::unique_ptr<ArrowArray, Release>;

// What a schema refers to.
struct SchemaContent {
  std::string name;
  std::vector<OwnedSchema> children;
  std::vector<ArrowSchema*> child_list;
  OwnedSchema dictionary;
};

// What an array refers to.
struct ArrayContent {
  std::shared_ptr<const Columns> columns;
  std::vector<const void*> buffers;
  std::vector<OwnedArray> children;
  std::vector<ArrowArray*> child_list;
  OwnedArray dictionary;
};

// Hands the content over to the struct, which releases it.
template <typename Content, typename Struct>
void take(std::unique_ptr<Content> content, Struct* out) {
  for (const auto& child : content->children) content->child_list.push_back(child.get());
  out->n_children = static_cast<int64_t>(content->children.size());
  out->children = content->child_list.data();
  out->dictionary = content->dictionary.get();
  out->release = [](Struct* self) {
    delete static_cast<Content*>(self->private_data);
    self->release = nullptr;
  };
  out->private_data = content.release();
}

void make_schema(const char* format, std::unique_ptr<SchemaContent> content, ArrowSchema* out) {
  *out = {};
  out->format = format;
  out->name = content->name.c_str();
  out->flags = ARROW_FLAG_NULLABLE;
  take(std::move(content), out);
}

OwnedSchema column_schema(const ColumnBuilder& column) {
  auto content = std::make_unique<SchemaContent>();
  content->name = column.name();
  if (column.type() == Type::kText) {
    content->dictionary.reset(new ArrowSchema{});
    make_schema("u", std::make_unique<SchemaContent>(), content->dictionary.get());
  }
  const char* format = column.type() == Type::kText   ? "i"
                       : column.type() == Type::kReal ? "g"
                                                      : "l";
  OwnedSchema schema(new ArrowSchema{});
  make_schema(format, std::move(content), schema.get());
  return schema;
}

void make_array(int64_t length, int64_t null_count, std::unique_ptr<ArrayContent> content,
                ArrowArray* out) {
  *out = {};
  out->length = length;
  out->null_count = null_count;
  out->n_buffers = static_cast<int64_t>(content->buffers.size());
  out->buffers = content->buffers.data();
  take(std::move(content), out);
}

std::unique_ptr<ArrayContent> content_of(const std::shared_ptr<const Columns>& columns,
                                         std::vector<const void*> buffers) {
  auto content = std::make_unique<ArrayContent>();
  content->columns = columns;
  content->buffers = std::move(buffers);
  return content;
}

OwnedArray column_array(const std::shared_ptr<const Columns>& columns,
                        const ColumnBuilder& column) {
  auto content = content_of(columns, {column.validity(), column.values()});
  if (column.type() == Type::kText) {
    const Dictionary& texts = column.dictionary();
    content->dictionary.reset(new ArrowArray{});
    make_array(texts.size(), 0, content_of(columns, {nullptr, texts.offsets(), texts.bytes()}),
               content->dictionary.get());
  }
  OwnedArray array(new ArrowArray{});
  make_array(column.size(), column.null_count(), std::move(content), array.get());
  return array;
}

struct StreamContent {
  std::shared_ptr<const Columns> columns;
  bool is_read = false;
};

StreamContent& content_of(ArrowArrayStream* stream) {
  return *static_cast<StreamContent*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  *out = {};
  try {
    auto content = std::make_unique<SchemaContent>();
    for (const ColumnBuilder& column : *content_of(stream).columns) {
      content->children.push_back(column_schema(column));
    }
    make_schema("+s", std::move(content), out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  *out = {};  // released: the end of the stream
  StreamContent& self = content_of(stream);
  if (self.is_read) return 0;
  try {
    auto content = content_of(self.columns, {nullptr});
    for (const ColumnBuilder& column : *self.columns) {
      content->children.push_back(column_array(self.columns, column));
    }
    const int64_t rows = self.columns->empty() ? 0 : self.columns->front().size();
    make_array(rows, 0, std::move(content), out);
    self.is_read = true;
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

}  // namespace

void export_stream(std::shared_ptr<const Columns> columns, ArrowArrayStream* stream) {
  auto content = std::make_unique<StreamContent>(StreamContent{std::move(columns)});
  *stream = {};
  stream->get_schema = get_schema;
  stream->get_next = get_next;
  stream->get_last_error = [](ArrowArrayStream*) { return "out of memory"; };
  stream->release = [](ArrowArrayStream* self) {
    delete static_cast<StreamContent*>(self->private_data);
    self->release = nullptr;
  };
  stream->private_data = content.release();
}

}  // namespace epi::c
