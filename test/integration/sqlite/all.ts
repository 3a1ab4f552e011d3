/** All tests in one process, which compiles the sources once. */
import './conformance.js'
import './durability.js'
import './failures.js'
import './page.js'
