import { count } from './format.js'

/** What an operator can do to clients, in words: what the button says, and what has been done. */
export const VERBS = {
  release: { verb: 'Release', done: 'Released' },
  block: { verb: 'Block', done: 'Blocked' },
  exempt: { verb: 'Exempt', done: 'Exempted' },
  raise: { verb: 'Raise', done: 'Raised' },
}

/** Returns what was done to clients of a limiter, with the new numbers. Who reads it also wants to know until when. */
export function changedText({ effect, who, limiter, limits = {} }) {
  const entries = Object.entries(limits)
  const numbers = entries.map(
    ([name, { limit }]) => `${entries.length > 1 ? `${name} ` : ''}to ${count(limit)}`,
  )
  return [`${VERBS[effect].done} ${who} in ${limiter}`, numbers.join(', ')].filter(Boolean).join(' ')
}
