import { count, counted, moment, spelled } from './format.js'
import { numbersText, valueText, whyOf } from './part-text.js'

const MAX_TEXTS = 5

/** Returns what a change would replace, each in a sentence. `isOne` says that it is for one target. */
export function replacedTexts(replaces, isOne) {
  const texts = replaces.slice(0, MAX_TEXTS).map((entry) => {
    const until = entry.untilMs === undefined ? 'indefinitely' : `until ${moment(entry.untilMs)}`
    const whom = entry.count === 1 ? spelled(entry.targets[0]) : counted(entry.count, 'target')
    return `Replaces${isOne ? '' : ` for ${whom}`}: ${effectText(entry)} ${until}, by ${whyOf(entry)}.`
  })
  const rest = replaces.length - texts.length
  return rest > 0 ? [...texts, `Replaces ${count(rest)} more.`] : texts
}

function effectText({ kind, value = {} }) {
  if (kind !== 'raise') return kind === 'block' ? 'blocked' : 'exempt'
  const [numbers, ...others] = Object.values(value)
  return `raised to ${others.length === 0 && numbers ? numbersText(numbers) : valueText({ value })}`
}
