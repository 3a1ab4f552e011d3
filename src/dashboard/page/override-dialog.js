import { confirmDialog } from './confirm-dialog.js'
import { el, identity, setChildren } from './dom.js'
import { count, counted, duration, moment } from './format.js'
import { post } from './server.js'

const DURATIONS = [
  ['10 minutes', 600_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
  ['7 days', 604_800_000],
]
const WORDS = {
  block: {
    verb: 'Block',
    done: 'Blocked',
    says: 'All of its requests are denied with 403, whatever the limits say.',
  },
  exempt: {
    verb: 'Exempt',
    done: 'Exempted',
    says: 'No limit of this limiter applies to it, and nothing is counted.',
  },
  raise: { verb: 'Raise', done: 'Raised', says: 'It gets these limits in place of the usual ones.' },
}
const MAX_LISTED = 5

/** Opens a dialog that overrides the limits of clients or networks for a time. `onDone` gets what was done. */
export function overrideDialog({ actions, limiter, effect, targets, who, durationMs, reason, onDone }) {
  const { verb, done, says } = WORDS[effect]
  const length = el(
    'select',
    { name: 'duration', onchange: () => dialog.setVerb(verbText()) },
    ...DURATIONS.map(([text, ms]) => el('option', { value: String(ms), selected: ms === durationMs }, text)),
  )
  const numbers = el('div', { class: 'numbers' })
  const warnings = el('ul', { class: 'warnings', 'aria-live': 'polite' })
  const notes = el('p', { class: 'quiet' })
  const verbText = () => `${verb} for ${length.selectedOptions[0].text}`
  let areWarningsNew = false
  const proposed = propose()

  const dialog = confirmDialog({
    title: `${verb} ${who} in ${limiter}`,
    verb: verbText(),
    reason,
    actions,
    onDone,
    content: [
      targets.length > 1 ? targetList(targets) : undefined,
      el('p', { class: 'quiet' }, says),
      effect === 'raise' ? numbers : undefined,
      el('label', {}, 'For', length),
      warnings,
      notes,
    ],
    run,
  })

  /** Shows what the server proposes, and whom the change would also hit. */
  async function propose() {
    const { raises, warnings: texts, notes: unknown, mode } = await post('proposal', { limiter, targets })
    const all =
      mode === 'report' && effect === 'block'
        ? ['This limiter is in report mode, so nothing is denied.', ...texts]
        : texts
    notes.textContent = effect === 'block' ? unknown.join(' ') : ''
    setChildren(warnings, all.join('\n'), () => all.map((text) => el('li', {}, text)))
    setChildren(numbers, 'known', () => raises.map(numberField))
    areWarningsNew = effect === 'block' && all.length > 0
    setTimeout(() => {
      areWarningsNew = false
    }, SEEN_MS)
  }

  async function run(author) {
    await proposed.catch((error) => {
      if (effect === 'raise') throw error // there are no numbers
    })
    if (areWarningsNew) {
      areWarningsNew = false
      return undefined // the reader has not seen them
    }
    const limits = Object.fromEntries(
      Array.from(numbers.querySelectorAll('input'), (input) => [input.name, { limit: Number(input.value) }]),
    )
    const body = { limiter, targets, effect, durationMs: Number(length.value), ...author }
    const { count: changed, untilMs } = await post(
      'override',
      effect === 'raise' ? { ...body, limits } : body,
    )
    const whom = changed > 1 ? `${counted(changed, 'target')}` : who
    return `${done} ${whom} in ${limiter} until ${moment(untilMs)}.`
  }
}

/** A warning that was shown for so long has been seen. */
const SEEN_MS = 600

function numberField({ limitName, limit, windowMs, proposed }) {
  const per = windowMs === null ? '' : ` per ${duration(windowMs)}`
  return el(
    'label',
    {},
    `${limitName}: ${count(limit)}${per} becomes`,
    el('input', {
      type: 'number',
      name: limitName,
      min: '1',
      step: '1',
      required: true,
      value: String(proposed),
    }),
  )
}

function targetList(targets) {
  const texts = targets.map(
    ({ network, storedIdentity, identity: typed }) => network ?? storedIdentity ?? typed,
  )
  const rest = texts.length - MAX_LISTED
  const items = texts.slice(0, MAX_LISTED).map((text) => el('li', {}, identity(text)))
  return el(
    'ul',
    { class: 'targets' },
    ...items,
    rest > 0 ? el('li', {}, `and ${count(rest)} more`) : undefined,
  )
}
