import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'

const SILENT = { isDebugEnabled: () => false, debug() {}, info() {} }
/** Longer mutants empty whole functions, which nearly every test notices, and hold many others. */
const MAX_LINES = 2

/**
 * Returns `size` random mutants of some files, by the patterns of their places and by their ids. They are the same
 * for the same seed and code. Code that runs only at import has none: Stryker is told to ignore its mutants.
 */
export async function sampleMutants(names, size, seed) {
  const mutants = (await Promise.all(names.map(mutantsOf))).flat()
  const drawn = mutants
    .map((mutant) => ({ ...mutant, rank: hash('sha256', `${seed} ${mutant.id}`) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, size)
  return { places: [...new Set(drawn.map(({ place }) => place))], ids: drawn.map(({ id }) => id) }
}

/** Returns what tells a mutant from others, in every process that works on the same code. */
export function idOf({ fileName, location: { start, end }, mutatorName, replacement }) {
  const place = `${start.line}:${start.column}-${end.line}:${end.column}`
  return [relative(process.cwd(), fileName), place, mutatorName, replacement].join(' ')
}

async function mutantsOf(name) {
  const repeated = new Set()
  const watch = {
    shouldIgnore(path) {
      if (path.node.loc && runsAfterImport(path)) repeated.add(spanText(path.node.loc))
    },
  }
  const options = { plugins: null, excludedMutations: [], ignorers: [watch], noHeader: true }
  const files = [{ name, content: readFileSync(name, 'utf8'), mutate: true }]
  const { mutants } = await new Instrumenter(SILENT).instrument(files, options)
  return mutants
    .map((mutant) => ({ id: idOf(mutant), ...mutant.location }))
    .map(({ id, start, end }) => ({ id, lines: end.line - start.line, span: spanText(oneBased(start, end)) }))
    .filter(({ lines, span }) => lines < MAX_LINES && repeated.has(span))
    .map(({ id, span }) => ({ id, place: `${name}:${span}` }))
}

/** Returns whether a node is in a function, or initializes a field of an object. */
function runsAfterImport(path) {
  return path.findParent((outer) => outer.isFunction() || (isField(outer) && !outer.node.static)) !== null
}

function isField(path) {
  return path.isClassProperty() || path.isClassPrivateProperty()
}

/** Stryker counts lines from 0 in a mutant, and from 1 in a pattern and in the syntax tree. */
function oneBased(start, end) {
  return { start: { ...start, line: start.line + 1 }, end: { ...end, line: end.line + 1 } }
}

function spanText({ start, end }) {
  return `${start.line}:${start.column}-${end.line}:${end.column}`
}
