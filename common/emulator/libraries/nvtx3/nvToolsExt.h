/// @file
/// The newer path of the same header.
#pragma once
#include "../nvToolsExt.h"
