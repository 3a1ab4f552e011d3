import { readFileSync } from 'node:fs'
import { idOf } from './sample.mjs'

/**
 * A checker of Stryker that passes the mutants of the sample alone. The pattern of a place also selects its other
 * mutants, and those within it.
 */
const sampleChecker = {
  async init() {},
  group: async (mutants) => [mutants.map(({ id }) => id)],
  async check(mutants) {
    const ids = new Set(JSON.parse(readFileSync(process.env.SAMPLE, 'utf8')))
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, resultOf(ids.has(idOf(mutant)))]))
  },
}

function resultOf(isDrawn) {
  return isDrawn ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' }
}

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', value: sampleChecker }]
