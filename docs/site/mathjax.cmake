# The part of MathJax 2 that turns TeX into SVG: 2 MB of 50.  cmake -DFROM=... -DTO=... -P mathjax.cmake
file(COPY ${FROM}/MathJax.js ${FROM}/extensions DESTINATION ${TO} FOLLOW_SYMLINK_CHAIN)
file(COPY ${FROM}/jax/input/TeX DESTINATION ${TO}/jax/input)
file(COPY ${FROM}/jax/element DESTINATION ${TO}/jax)
file(COPY ${FROM}/jax/output/SVG/jax.js ${FROM}/jax/output/SVG/config.js
    ${FROM}/jax/output/SVG/autoload DESTINATION ${TO}/jax/output/SVG)
file(COPY ${FROM}/jax/output/SVG/fonts/TeX DESTINATION ${TO}/jax/output/SVG/fonts)
