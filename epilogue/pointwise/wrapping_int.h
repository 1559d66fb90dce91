// SPDX-License-Identifier: Apache-2.0
// Integers as a number type for functions.h. Overflow wraps, as in ATen. Like functions.h, this
// file is included inside a target's namespace with EPI_FN defined. T is signed, and Unsigned has
// the same size.

template <class T, class Unsigned>
struct WrappingInt {
  T value;

  WrappingInt() = default;
  EPI_FN WrappingInt(T number) : value(number) {}  // NOLINT: implicit, like a number
};

template <class T, class U>
EPI_FN WrappingInt<T, U> operator+(WrappingInt<T, U> a, WrappingInt<T, U> b) {
  return static_cast<T>(static_cast<U>(a.value) + static_cast<U>(b.value));
}
template <class T, class U>
EPI_FN WrappingInt<T, U> operator*(WrappingInt<T, U> a, WrappingInt<T, U> b) {
  return static_cast<T>(static_cast<U>(a.value) * static_cast<U>(b.value));
}
// Negating the smallest integer returns it unchanged.
template <class T, class U>
EPI_FN WrappingInt<T, U> operator-(WrappingInt<T, U> x) {
  return static_cast<T>(U(0) - static_cast<U>(x.value));
}
template <class T, class U>
EPI_FN bool operator<(WrappingInt<T, U> a, WrappingInt<T, U> b) {
  return a.value < b.value;
}
template <class T, class U>
EPI_FN WrappingInt<T, U> fma(WrappingInt<T, U> a, WrappingInt<T, U> b, WrappingInt<T, U> c) {
  return a * b + c;
}
template <class T, class U>
EPI_FN WrappingInt<T, U> select(bool mask, WrappingInt<T, U> a, WrappingInt<T, U> b) {
  return mask ? a : b;
}
template <class T, class U>
EPI_FN WrappingInt<T, U> min(WrappingInt<T, U> a, WrappingInt<T, U> b) {
  return b < a ? b : a;
}
template <class T, class U>
EPI_FN WrappingInt<T, U> max(WrappingInt<T, U> a, WrappingInt<T, U> b) {
  return a < b ? b : a;
}
