import { count, moment, spelled } from './format.js'

/** Returns a part of a document in words. */
export function partText(value) {
  if (value === undefined) return 'as in the code'
  if (typeof value === 'string') return valueText({ value })
  const { block, exempt, limits, until } = value
  const isOverride = block || exempt || limits !== undefined
  if (!isOverride) return numbersText(value)
  const effect = block ? 'blocked' : exempt ? 'exempt' : valueText({ value: limits })
  return until === undefined ? effect : `${effect} until ${moment(Date.parse(until) || until)}`
}

/** Returns new numbers in words, such as `api: 100 per 1m`. */
export function valueText({ value }) {
  if (value === undefined) return ''
  if (typeof value === 'string') return value === 'report' ? 'only reports denials' : 'enforces limits'
  return Object.entries(value.limits ?? value)
    .map(([name, numbers]) => `${name}: ${numbersText(numbers)}`)
    .join(', ')
}

export function numbersText({ policy, limit, capacity, window, ...others }) {
  const number = limit ?? capacity
  const per = window === undefined ? '' : ` per ${window}`
  if (policy === undefined && number !== undefined) return `${count(number)}${per}`
  if (policy === undefined) return `per ${window}`
  return spelled(JSON.stringify({ policy, limit, capacity, window, ...others }))
}

/** Returns who did something and why, as far as the history reaches. */
export function whyOf({ by, reason, atMs }) {
  if (by === undefined && reason === undefined) return 'unknown: the history does not reach back that far'
  const when = atMs === undefined ? '' : ` at ${moment(atMs)}`
  return [`${spelled(by ?? 'unknown')}${when}`, reason && `“${spelled(reason)}”`].filter(Boolean).join(', ')
}
