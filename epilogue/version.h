// SPDX-License-Identifier: Apache-2.0
// The version of the library. CMakeLists.txt reads it from here.
#ifndef EPILOGUE_VERSION_H
#define EPILOGUE_VERSION_H

#define EPILOGUE_VERSION_MAJOR 0
#define EPILOGUE_VERSION_MINOR 2
#define EPILOGUE_VERSION_PATCH 0
#define EPILOGUE_VERSION_STRING "0.2.0"
// For comparisons: EPILOGUE_VERSION >= EPILOGUE_MAKE_VERSION(0, 2, 0).
#define EPILOGUE_MAKE_VERSION(major, minor, patch) (1000000 * (major) + 1000 * (minor) + (patch))
#define EPILOGUE_VERSION \
  EPILOGUE_MAKE_VERSION(EPILOGUE_VERSION_MAJOR, EPILOGUE_VERSION_MINOR, EPILOGUE_VERSION_PATCH)

#endif
