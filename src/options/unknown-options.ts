import { groupBy } from '../util/group-by.js'
import { findNearest, showName } from '../util/validate.js'
import { type FindHint, type Given, type Hint, listed, textOf } from './hints/hint.js'

/** Options that the factory does not have, and that have one fix. */
export interface UnknownOptions {
  readonly error: TypeError
  /** The options that were meant, where they are known. */
  readonly meant: readonly string[]
}

type Unknown = Pick<UnknownOptions, 'meant'> & { readonly name: string; readonly fix: string }

/** Describes the options that are none of `known`; one that is `undefined` was left out. */
export function describeUnknown(
  owner: string,
  given: Given,
  known: readonly string[],
  findHint: FindHint,
): UnknownOptions[] {
  const unknown = Object.keys(given)
    .filter((name) => !known.includes(name) && given[name] !== undefined)
    .map((name) => findFix(name, known, findHint(name, given)))
  return [...groupBy(unknown, ({ fix }) => fix).values()].map((group) => describe(owner, group))
}

function findFix(name: string, known: readonly string[], hint: Hint | undefined): Unknown {
  if (hint !== undefined) return { name, fix: textOf(hint), meant: Object.keys(hint.write) }
  const near = findNearest(name, known)
  if (near !== undefined) return { name, fix: `Did you mean ${near}?`, meant: [near] }
  return { name, fix: `Known options: ${known.join(', ')}.`, meant: [] }
}

function describe(owner: string, group: readonly Unknown[]): UnknownOptions {
  const names = listed(group.map(({ name }) => showName(name)))
  const problem = group.length === 1 ? `there is no option ${names}` : `there are no options ${names}`
  return {
    error: new TypeError(`${owner}: ${problem}. ${group[0]?.fix}`),
    meant: group.flatMap(({ meant }) => meant),
  }
}
