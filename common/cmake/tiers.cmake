# sixdays_tiers(<result> <tests/x.cpp>...): which of the tiers small, full and huge have a case there,
# as its tags say: "[day05][matmul][huge]".
function(sixdays_tiers result)
    set(found "")
    foreach(tier small full huge)
        foreach(file IN LISTS ARGN)
            file(STRINGS ${file} tags REGEX "\"[^\"]*\\[${tier}\\]")
            if(tags)
                list(APPEND found ${tier})
                break()
            endif()
        endforeach()
    endforeach()
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

# sixdays_want_tiers(<folder> <wanted tiers> <tiers that have a case>): a tier that is asked for by
# name and has no case would be a test that runs nothing.
function(sixdays_want_tiers folder wanted have)
    foreach(tier IN LISTS wanted)
        if(NOT tier IN_LIST have)
            message(FATAL_ERROR "${folder} asks for the tier ${tier} (TIERS), and no case in its tests/ "
                "has the tag [${tier}]. Tag one, or leave the tier out: what has cases is found without.")
        endif()
    endforeach()
endfunction()
