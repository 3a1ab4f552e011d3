import { showName, unknownOption } from './checks.js'
import { type FindHint, type Given, textOf } from './foreign/hint.js'

/**
 * Options that there are not: the error about them, and the options that were meant, where they are known.
 */
export interface UnknownOptions {
  readonly error: TypeError
  readonly meant: readonly string[]
}

/** Describes the options that are none of `known`. Those with one and the same hint share an error. */
export function unknownOptions(
  owner: string,
  given: Given,
  known: readonly string[],
  hintFor: FindHint,
): UnknownOptions[] {
  const plain: UnknownOptions[] = []
  const hinted = new Map<string, { names: string[]; meant: readonly string[] }>()
  for (const name of Object.keys(given).filter((name) => !known.includes(name))) {
    const hint = hintFor(name, given)
    if (hint === undefined) {
      const { error, meant } = unknownOption(owner, name, known)
      plain.push({ error, meant: meant === undefined ? [] : [meant] })
      continue
    }
    const text = textOf(hint)
    const group = hinted.get(text)
    if (group !== undefined) group.names.push(name)
    else hinted.set(text, { names: [name], meant: hint.readings.flatMap(({ write }) => Object.keys(write)) })
  }
  const grouped = [...hinted].map(([text, { names, meant }]) => {
    const are = names.length === 1 ? 'is no option' : 'are no options'
    return {
      error: new TypeError(`${owner}: there ${are} ${names.map(showName).join(' and ')}. ${text}`),
      meant,
    }
  })
  return [...grouped, ...plain]
}
