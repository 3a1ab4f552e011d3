import { blockDurations } from './block-durations.js'
import { el, setText } from './dom.js'
import { DAY_MS, HOUR_MS } from './finding-actions.js'
import { count, counted, spelled, withTimes } from './format.js'
import { overrideDialog } from './override-dialog.js'

/** The most clients of one change. */
const MAX_SELECTED = 1000
const LENGTHS = { block: HOUR_MS, exempt: DAY_MS, raise: DAY_MS }

/**
 * Creates the bar of what can be done to the selected clients of a limiter. It says what was done, or what
 * failed.
 */
export function selectionBar({ limiter, actions, onDone, onClear }) {
  const number = el('b', {})
  const status = el('p', { class: 'done', role: 'status' })
  const overrides = el(
    'span',
    { class: 'bar' },
    ...Object.keys(LENGTHS).map((effect) =>
      button(`${effect[0].toUpperCase()}${effect.slice(1)}…`, () => override(effect)),
    ),
  )
  const bans = el(
    'span',
    { class: 'bar' },
    ...blockDurations().map(([name, durationMs]) =>
      button(`Block for ${name}`, () => run('block', { durationMs }, 'Blocked')),
    ),
    el('span', { class: 'quiet' }, NO_SETTINGS),
  )
  const changes = el(
    'span',
    { class: 'bar' },
    button('Release', () => run('release', {}, 'Released')),
    overrides,
    bans,
  )
  const copy = button('Copy', async () => {
    await navigator.clipboard.writeText(selected.map(({ identity }) => identity).join('\n'))
    setText(status, `Copied ${counted(selected.length, 'identity').replace('identitys', 'identities')}.`)
  })
  const bar = el('div', { class: 'selection' }, number, changes, copy, button('Clear', onClear))
  const element = el('div', { class: 'selection-holder' }, status, bar)
  let selected = []
  let reason = ''
  let canOverride = false

  async function run(action, body, done) {
    const identities = identitiesOf(selected)
    const { changed, failures } = await actions.changeAll(action, identities, { limiter, ...body })
    const failed = failures.length === 0 ? '' : ` Failed for ${failures.length}: ${failures[0]}`
    if (changed === 0 && failures.length === 0) return // no name was given
    setText(status, `${done} ${counted(changed, 'client')} in ${limiter}.${failed}`)
    status.classList.toggle('problem', failures.length > 0)
    if (failures.length === 0) onClear()
  }

  function override(effect) {
    const identities = identitiesOf(selected)
    if (identities.length > MAX_SELECTED) {
      setText(status, `Select at most ${count(MAX_SELECTED)} clients, or block their network.`)
      return
    }
    const who = identities.length === 1 ? spelled(identities[0]) : counted(identities.length, 'client')
    const targets = identities.map((identity) => ({ storedIdentity: identity }))
    open(effect, targets, who)
  }

  function open(effect, targets, who) {
    overrideDialog({
      actions,
      limiter,
      effect,
      targets,
      who,
      durationMs: LENGTHS[effect],
      reason,
      onDone(done) {
        onClear()
        onDone(done)
      },
    })
  }

  return {
    element,
    show(clients) {
      selected = clients
      bar.hidden = clients.length === 0
      setText(number, `${counted(clients.length, 'client')} selected`)
    },
    allow({ session: { canChange }, rows }) {
      const row = rows.get(limiter)
      canOverride = canChange && row?.hasSettings === true
      changes.hidden = !canChange
      overrides.hidden = !canOverride
      bans.hidden = canOverride
      reason = row === undefined || row.finding.level === 'calm' ? '' : withTimes(row.finding.sentence)
    },
    canOverride: () => canOverride,
    block: (network) => open('block', [{ network }], network),
  }
}

/** How an application gets what needs settings. */
export const NO_SETTINGS =
  'To exempt clients, raise limits or block networks, write settings: sharedSettings(store).'

function identitiesOf(clients) {
  return Array.from(new Set(clients.map(({ identity }) => identity)))
}

function button(text, onclick) {
  return el('button', { type: 'button', onclick }, text)
}
