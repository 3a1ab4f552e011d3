import { blockDurations } from './block-durations.js'
import { el, identity, table } from './dom.js'
import { DAY_MS, HOUR_MS } from './finding-actions.js'
import { clock, count, duration, spelled } from './format.js'
import { overrideDialog } from './override-dialog.js'
import { NO_SETTINGS } from './selection.js'
import { post } from './server.js'

const LISTINGS = {
  block: 'The block option lists this IP address, so it is always denied. Change the option to let it in.',
  allow: 'The allow option lists this IP address, so it is never limited.',
}

/** Creates the view of one client: what each limiter holds of it. The address names the client. */
export function lookupView({ go, actions, onDone }) {
  const input = el('input', {
    id: 'identity',
    name: 'identity',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    required: true,
    'aria-keyshortcuts': '/',
  })
  const results = el('div', { id: 'found', 'aria-live': 'polite' })
  const form = el(
    'form',
    { id: 'lookup', onsubmit: submit },
    el('label', { for: 'identity' }, 'IP address, user, name, or an identity from a list of denied clients'),
    el('div', { class: 'bar' }, input, el('button', { type: 'submit' }, 'Look up')),
  )
  const element = el(
    'section',
    { class: 'page', 'aria-labelledby': 'lookup-title' },
    el('h1', { id: 'lookup-title', tabindex: '-1' }, 'Look up a client'),
    form,
    results,
  )
  let latest = 0
  let shownText = ''
  let canChange = false
  let rows = new Map()

  function submit(event) {
    event.preventDefault()
    if (input.value === shownText) void lookUp(input.value)
    else go({ search: input.value })
  }

  /** Shows what limiters hold of an identity, below a heading: what was done, or what was found. */
  async function lookUp(text, done) {
    const turn = ++latest
    try {
      const { found } = await post('lookup', { identity: text })
      if (turn === latest) results.replaceChildren(...panels(text, found, done))
    } catch (error) {
      if (turn === latest) results.replaceChildren(problem(error.message))
    }
  }

  function panels(text, found, done) {
    const [before, after] = done ?? [summaryOf(found), '']
    const summary = el('p', { class: 'summary', tabindex: '-1' }, `${before} `, identity(text), after)
    return [summary, ...found.map((each) => foundPanel(text, each))]
  }

  function foundPanel(text, found) {
    const { limiter, standings, listing, problem: failure } = found
    if (failure !== undefined) return el('div', { class: 'found' }, el('h2', {}, limiter), problem(failure))
    return el(
      'div',
      { class: 'found', 'data-found': limiter },
      el('h2', {}, limiter),
      listing && el('p', {}, LISTINGS[listing]),
      standings.length === 0 ? el('p', { class: 'quiet' }, 'No usage.') : standingTable(limiter, standings),
      canChange && el('p', { class: 'bar' }, ...buttons(text, found)),
    )
  }

  function buttons(text, { limiter, standings, longestBlockMs }) {
    const act = (action, body, done) => async () => {
      try {
        if (!(await actions.change(action, { identity: text, limiter, ...body }))) return
        await lookUp(text, done)
        results.querySelector('.summary')?.focus({ preventScroll: true }) // the button is gone
      } catch (error) {
        results.querySelector(':scope > .problem')?.remove()
        results.prepend(problem(error.message))
      }
    }
    const release = act('release', {}, ['Released', ` in ${limiter}.`])
    const hint = `This limiter has no ban, so it cannot block clients. ${NO_SETTINGS}`
    const releasing = standings.length > 0 && button('Release', `Release in ${limiter}`, release)
    if (rows.get(limiter)?.hasSettings)
      return [releasing, ...overrideButtons(text, limiter, standings)].filter(Boolean)
    return [
      releasing,
      ...blockDurations(longestBlockMs).map(([name, durationMs]) => {
        const block = act('block', { durationMs }, ['Blocked', ` for ${name} in ${limiter}.`])
        return button(`Block for ${name}`, `Block for ${name} in ${limiter}`, block)
      }),
      longestBlockMs === 0 && el('span', { class: 'quiet' }, hint),
    ].filter(Boolean)
  }

  /** Returns buttons that override the limits of what was found, or of what was typed if nothing was. */
  function overrideButtons(text, limiter, standings) {
    const stored = Array.from(new Set(standings.map((standing) => standing.identity)))
    const targets =
      stored.length > 0 ? stored.map((each) => ({ storedIdentity: each })) : [{ identity: text }]
    return ['Block', 'Exempt', 'Raise'].map((verb) => {
      const open = () =>
        overrideDialog({
          actions,
          limiter,
          effect: verb.toLowerCase(),
          targets,
          who: spelled(text),
          durationMs: verb === 'Block' ? HOUR_MS : DAY_MS,
          reason: '',
          onDone(done) {
            void lookUp(text)
            onDone(done)
          },
        })
      return button(`${verb}…`, `${verb} in ${limiter}`, open)
    })
  }

  function show({ session, isKnown, rows: known }, { search }) {
    if (!isKnown) return // who may change something is not known yet
    canChange = session.canChange
    rows = known
    if (search === shownText) return
    shownText = search
    input.value = search
    if (search === '') results.replaceChildren()
    else void lookUp(search)
  }

  return { element, show, search: input }
}

function standingTable(limiter, standings) {
  return table({
    caption: `Usage in ${limiter}`,
    isCaptionHidden: true,
    head: ['limit', 'stored as', 'left', 'status'],
    numbers: [2],
    rows: standings.map((standing) => [
      standing.limitName,
      identity(standing.identity),
      `${count(standing.remaining)} of ${count(standing.limit)}`,
      `${whyOf(standing)}; full quota ${backOf(standing)}`,
    ]),
  })
}

/** Returns why a client is limited, and until when. */
function whyOf({ remaining, moreAfterMs, bannedForMs }) {
  if (bannedForMs > 0) return `banned for ${duration(bannedForMs)}, until ${clock(Date.now() + bannedForMs)}`
  if (remaining > 0) return 'not limited'
  if (moreAfterMs === null) return 'used up until it is released'
  return `used up; more in ${duration(moreAfterMs)}, at ${clock(Date.now() + moreAfterMs)}`
}

function backOf({ resetAfterMs }) {
  return resetAfterMs === null ? 'once it is released' : `in ${duration(resetAfterMs)}`
}

function summaryOf(found) {
  const isLimited = found.some(
    ({ standings, listing }) => listing === 'block' || standings.some(({ remaining }) => remaining === 0),
  )
  if (isLimited) return 'Limited:'
  if (found.some(({ problem }) => problem !== undefined)) return 'Some limiters could not be read for'
  return found.some(({ standings }) => standings.length > 0) ? 'Not limited:' : 'No limiter has seen'
}

function button(text, label, onclick) {
  return el('button', { type: 'button', 'aria-label': label, onclick }, text)
}

function problem(text) {
  return el('p', { class: 'problem', role: 'alert' }, text)
}
