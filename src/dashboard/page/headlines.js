import { actionBar } from './action-bar.js'
import { changeLine, changeMade, isCause, isSettling, undoOf } from './change-made.js'
import { el, setAttribute, setChildren, setText } from './dom.js'
import { count, sinceText, withTimes } from './format.js'
import { levelIcon } from './icons.js'
import { keyedList } from './keyed-list.js'
import { worstFirst } from './order.js'
import { addressOf } from './route.js'

/** The most headlines above the rows: the rows below say the rest. */
export const MAX_HEADLINES = 5
/** The most limiters that are named; more are counted. */
const MAX_NAMES = 8
const LEVELS = ['critical', 'warning', 'calm']

/**
 * Returns what is wrong, the most urgent first: of each level, first what is about no limiter, and then limiters in the
 * order of their rows. A store that is unavailable is named once, however many limiters are on it.
 */
export function headlinesOf({ rows, headlines }) {
  const ofLimiters = worstFirst(Array.from(rows.values()))
    .filter(({ finding: { level, kind } }) => level !== 'calm' && kind !== 'store-outage')
    .map(({ name, finding }) => ({ limiter: name, finding }))
  const all = [...headlines, ...ofLimiters]
  return LEVELS.flatMap((level) => all.filter(({ finding }) => finding.level === level))
}

/** Creates a list of headlines. Its function `show` gets them, and whether a reader must not lose a place. */
export function headlineList(label, context = {}) {
  const element = el('ul', { class: 'headlines', 'data-headlines': true, 'aria-label': label })
  const showItems = keyedList(element, (key) => headlineItem(key, context))
  const shown = new Set()

  return {
    element,
    show(headlines, { outages, atMs, rows, session, events }, isHeld = false) {
      const entries = headlines.map((headline) => [
        keyOf(headline),
        { headline, outages, atMs, row: rows.get(headline.limiter), session, events },
      ])
      const kept = isHeld ? entries.filter(([key, value]) => shown.has(key) || hasNoRow(value)) : entries
      showItems(kept, isHeld)
      shown.clear()
      for (const item of element.children) shown.add(item.headlineKey)
    },
    has: (limiter) => shown.has(keyOf({ limiter })),
  }
}

/** Whether nothing else says it while the rows are held: a store or a process has no row. */
const hasNoRow = ({ headline: { limiter } }) => limiter === undefined

const keyOf = ({ limiter, finding }) =>
  limiter === undefined ? `${finding.kind}/${finding.sinceMs}` : `/${limiter}`

/** Creates a headline, with what an operator can do about it. */
function headlineItem(key, context) {
  const level = levelIcon()
  const link = el('a', {})
  const sentence = el('span', {})
  const since = el('span', { class: 'since' })
  const effects = el('ul', { class: 'effects' })
  const bar = actionBar({ ...context, namesNumbers: true })
  const made = changeLine(context)
  const words = el('p', {}, link, sentence, ' ', since)
  const element = el('li', {}, level.drawing, words, effects, made.element, bar.element)
  element.headlineKey = key

  function show({ headline: { limiter, finding }, outages, atMs, row, session, events }) {
    const { kind, sinceMs } = finding
    setAttribute(element, 'data-headline', kind)
    element.className = `headline is-${finding.level}`
    level.show(finding.level)
    const outage = kind === 'store-outage' && outages.find((each) => each.sinceMs === sinceMs)
    const about = limiter ?? onlyLimiterOf(outage)
    setAttribute(
      link,
      'href',
      addressOf(about === undefined ? { view: 'processes' } : { view: 'limiter', name: about }),
    )
    setText(link, about ?? 'Processes')
    setText(sentence, withTimes(finding.sentence))
    setText(since, sinceText(sinceMs, atMs))
    const lines = outage ? effectsOf(outage) : []
    const change = limiter === undefined ? undefined : changeMade(events, limiter, sinceMs)
    made.show(change, session.canChange, finding.sentence)
    const cause = isCause(change, finding.sentence) ? change : undefined
    bar.show(
      isSettling(change, atMs) ? undefined : row,
      session,
      cause && { id: cause.id, button: () => undoOf(cause, context) },
    )
    setChildren(effects, lines.join('\n'), () => lines.map((text) => el('li', {}, text)))
  }

  return { element, show }
}

/** Returns the only limiter that an outage affects; `undefined` if there are several. */
const onlyLimiterOf = ({ effects = [] }) => (effects.length === 1 ? effects[0].limiter : undefined)

/** Returns what requests get now, with the limiters that it is about; nothing if the headline says it of all. */
function effectsOf({ effects, decisions, processes }) {
  const limiters = new Map()
  for (const { limiter, text } of effects) limiters.set(text, [...(limiters.get(text) ?? []), limiter])
  const lines = Array.from(limiters, ([text, names]) => {
    const rest = names.length - MAX_NAMES
    const listed = names.slice(0, MAX_NAMES).join(', ')
    return `${listed}${rest > 0 ? ` and ${count(rest)} more` : ''}: ${text.replace(/\.?$/, '.')}`
  })
  const by =
    processes > 1 && decisions > 0 ? [`Decisions are added up over ${count(processes)} processes.`] : []
  return [...lines, ...by]
}
