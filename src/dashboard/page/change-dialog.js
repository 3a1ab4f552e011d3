import { changedText, VERBS } from './changed-text.js'
import { confirmDialog } from './confirm-dialog.js'
import { theirText } from './conflict-texts.js'
import { el, identity, setChildren, setText } from './dom.js'
import { count, duration, moment, shortened, spelled } from './format.js'
import { livePreview } from './live-preview.js'
import { replacedTexts } from './replaced-text.js'
import { ask, post } from './server.js'
import { DAY_MS, HOUR_MS, lengthsIn } from './ways.js'

const SAYS = {
  release: 'What has been used is forgotten, and bans and blocks end.',
  block: 'All requests are denied with 403, whatever the limits say.',
  exempt: 'No limits apply, and requests are not counted.',
  raise: 'These limits replace the usual ones.',
}
const BANNED = 'All requests are denied until the ban ends.'
const MAX_LISTED = 5
/** After this time, a warning has been seen. */
const SEEN_MS = 600

/**
 * Opens the dialog in which an operator changes what applies to clients or networks of a limiter. `row` is the
 * limiter's row. `onDone` gets what was done.
 */
export function changeDialog({ actions, row, effect, targets, who, durationMs, note, reason = '', onDone }) {
  const { name: limiter, hasSettings, longestBlockMs } = row
  const { verb } = VERBS[effect]
  const says = SAYS[effect]
  const named = spelled(shortened(who))
  const lengths = effect === 'release' ? [] : lengthsIn(row)
  const usualMs = durationMs ?? (effect === 'block' ? HOUR_MS : DAY_MS)
  const wantedMs = hasSettings ? usualMs : Math.min(usualMs, longestBlockMs)
  const length = el(
    'select',
    { name: 'duration', onchange: () => dialog.setVerb(verbText()) },
    ...lengths.map(([text, ms], i) => el('option', { value: String(i), selected: ms === wantedMs }, text)),
  )
  const numbers = el('div', { class: 'numbers', oninput: () => preview.typed() })
  const warnings = el('ul', { class: 'warnings', 'aria-live': 'polite' })
  const notes = el('p', { class: 'quiet' })
  const isProposed = hasSettings && effect !== 'release'
  const preview = livePreview(() =>
    isProposed && (effect !== 'raise' || isFilled(numbers)) ? changeBody() : undefined,
  )
  /** The version of the settings whose overrides were shown; `undefined` while it is not known. */
  let base
  let areWarningsNew = false
  warn([])
  const dialog = confirmDialog({
    title: `${verb} ${named} in ${limiter}`,
    verb: verbText(),
    reason,
    actions,
    onDone,
    content: [
      targets.length > 1 && targetList(targets),
      el('p', { class: 'quiet' }, effect === 'block' && !hasSettings ? BANNED : says, note && ` ${note}`),
      effect === 'raise' && numbers,
      lengths.length > 0 && el('label', {}, 'For', length),
      preview.element,
      warnings,
      notes,
    ],
    run,
  })
  let proposed = isProposed ? propose() : undefined
  if (effect !== 'raise') void preview.load()

  function verbText() {
    if (lengths.length === 0) return verb
    const [text, ms] = lengths[length.selectedIndex]
    return ms === null ? `${verb} ${text}` : `${verb} for ${text}`
  }

  /** Shows what the server proposes, what the change replaces, and whom it would also hit. */
  async function propose() {
    base = undefined
    try {
      const proposal = await ask('proposal', { limiter, targets })
      const { raises, warnings: also, notes: unknown, replaces } = proposal
      if (proposal.base === undefined) throw new Error('the settings could not be read.')
      base = proposal.base
      setChildren(numbers, 'known', () => raises.map(numberField))
      if (effect === 'block') setText(notes, unknown.join(' '))
      warn([...replacedTexts(replaces, targets.length === 1), ...(effect === 'block' ? also : [])])
      dialog.setVerb(verbText())
      if (effect === 'raise') void preview.load()
    } catch ({ message }) {
      warn([`${UNKNOWN}: ${message}`])
      dialog.setVerb('Try again')
    }
  }

  function warn(texts) {
    const all = effect === 'block' && row.mode === 'report' ? [IN_REPORT, ...texts] : texts
    setChildren(warnings, all.join('\n'), () => all.map((text) => el('li', {}, text)))
    areWarningsNew = texts.length > 0
    setTimeout(() => {
      areWarningsNew = false
    }, SEEN_MS)
  }

  function changeBody() {
    const body = { limiter, targets, effect }
    if (effect !== 'raise') return body
    const fields = Array.from(numbers.querySelectorAll('input'))
    return {
      ...body,
      limits: Object.fromEntries(fields.map((each) => [each.name, { limit: Number(each.value) }])),
    }
  }

  async function run(author) {
    await proposed
    if (isProposed && base === undefined) {
      proposed = propose()
      await proposed
      return undefined // there was nothing to read
    }
    if (areWarningsNew) {
      areWarningsNew = false
      return undefined // the reader has not seen them
    }
    if (effect === 'release') {
      await post('release', { limiter, targets, ...author })
      return `${changedText({ effect, who: named, limiter })}.`
    }
    const body = { ...changeBody(), base, durationMs: lengths[length.selectedIndex][1], ...author }
    const { untilMs } = await post('override', body).catch(explainConflict)
    const end = untilMs === undefined ? 'indefinitely' : `until ${moment(untilMs)}`
    return `${changedText({ effect, who: named, limiter, limits: body.limits })} ${end}.`
  }

  /** Shows what another operator has changed since the dialog was opened. Confirmed again, it is replaced. */
  async function explainConflict(error) {
    if (error.conflicts === undefined) throw error
    proposed = propose()
    await proposed
    const theirs = error.conflicts.map(theirText)[0] ?? 'Another operator has changed the settings.'
    throw new Error(`${spelled(theirs)} Nothing is changed yet. Confirm again to replace it.`)
  }
}

const UNKNOWN = 'Could not find out what this would replace, and which other clients it would affect'
const IN_REPORT = 'This limiter is in report mode, so nothing is denied.'

const isFilled = (numbers) => numbers.querySelector('input') !== null

function numberField({ limitName, limit, windowMs, proposed }) {
  const per = windowMs === null ? '' : ` per ${duration(windowMs)}`
  const attributes = { type: 'number', name: limitName, min: '1', step: '1', required: true }
  return el(
    'label',
    {},
    `${limitName}: ${count(limit)}${per} becomes`,
    el('input', { ...attributes, value: String(proposed) }),
  )
}

function targetList(targets) {
  const texts = targets.map((target) => Object.values(target)[0])
  const rest = texts.length - MAX_LISTED
  const items = texts.slice(0, MAX_LISTED).map((text) => el('li', {}, identity(text)))
  return el('ul', { class: 'targets' }, ...items, rest > 0 && el('li', {}, `and ${count(rest)} more`))
}
