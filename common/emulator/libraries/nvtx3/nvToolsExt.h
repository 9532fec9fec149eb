/// @file
/// The newer place of the same header.
#pragma once
#include "../nvToolsExt.h"
