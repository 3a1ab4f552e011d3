import { readFileSync } from 'node:fs'
import { Instrumenter } from '@stryker-mutator/instrumenter'

const SILENT = { isDebugEnabled: () => false, debug() {}, info() {} }
/** Longer mutants empty whole functions, which nearly every test notices, and hold many others. */
const MAX_LINES = 2

/** Returns the places of `size` random mutants of some files, each as a pattern of Stryker's `mutate`. */
export async function sampleMutants(names, size) {
  const files = names.map((name) => ({ name, content: readFileSync(name, 'utf8'), mutate: true }))
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: true }
  const { mutants } = await new Instrumenter(SILENT).instrument(files, options)
  const places = mutants
    .filter(({ location: { start, end } }) => end.line - start.line < MAX_LINES)
    .map(({ fileName, location: { start, end } }) => {
      return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`
    })
  return shuffled([...new Set(places)]).slice(0, size)
}

/** Returns the values in random order (Fisher and Yates). */
function shuffled(values) {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[values[i], values[j]] = [values[j], values[i]]
  }
  return values
}
