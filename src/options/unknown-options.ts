import { showName, unknownOption } from '../util/validate.js'
import { type FindHint, type Given, type Hint, listed, SAME, textOf } from './hints/hint.js'

/** Options that there are not. */
export interface UnknownOptions {
  readonly error: TypeError
  /** The options that were meant, where they are known. */
  readonly meant: readonly string[]
  /** Further options that are not checked now, since the error covers them. */
  readonly covers: readonly string[]
}

/** Unknown options with one hint. */
interface Group {
  readonly names: string[]
  hint: Hint
  /** The option from which the hint comes. */
  from: string
}

/**
 * Describes the options that are none of `known`; one that is `undefined` was left out. Those that mean the
 * same option share an error, with one value.
 */
export function unknownOptions(
  owner: string,
  given: Given,
  known: readonly string[],
  hintFor: FindHint,
): UnknownOptions[] {
  const plain: UnknownOptions[] = []
  const groups = new Map<string, Group>()
  for (const name of Object.keys(given)) {
    if (known.includes(name) || given[name] === undefined) continue
    const hint = hintFor(name, given)
    if (hint !== undefined) addTo(groups, name, hint)
    else {
      const { error, meant } = unknownOption(owner, name, known)
      plain.push({ error, meant: meant === undefined ? [] : [meant], covers: [] })
    }
  }
  return [...[...groups.values()].map((group) => describe(owner, group)), ...plain]
}

function addTo(groups: Map<string, Group>, name: string, hint: Hint): void {
  const target = hint.readings[0] ? Object.keys(hint.readings[0].write).join() : textOf(hint)
  const group = groups.get(target)
  if (group === undefined) {
    groups.set(target, { names: [name], hint, from: name })
    return
  }
  group.names.push(name)
  if (writesSame(hint) && !writesSame(group.hint)) Object.assign(group, { hint, from: name })
}

/** Whether the value given goes into another option as it is, which beats one that is made up. */
function writesSame({ readings }: Hint): boolean {
  return readings.some(({ write }) => Object.values(write).includes(SAME))
}

function describe(owner: string, { names, hint, from }: Group): UnknownOptions {
  const are = names.length === 1 ? 'is no option' : 'are no options'
  const text = textOf(names.length === 1 ? hint : namingValue(hint, from))
  const error = new TypeError(`${owner}: there ${are} ${listed(names.map(showName))}. ${text}`)
  const meant = hint.readings.flatMap(({ write }) => Object.keys(write))
  return { error, meant, covers: hint.covers ?? [] }
}

/** The hint with the name of the option whose value is meant, among several. */
function namingValue(hint: Hint, from: string): Hint {
  const readings = hint.readings.map(({ write, ...rest }) => ({
    write: Object.fromEntries(
      Object.entries(write).map(([name, source]) => [name, source === SAME ? from : source]),
    ),
    ...rest,
  }))
  return { ...hint, readings }
}
