/** Runs the tests of the store contract, and of the store's own rules, in Deno, and sends their results. */
import { runCases } from '../../support/run-cases.js'
import { cases } from './cases.js'
import { sendLast } from './send-last.js'

sendLast(await runCases(cases))
