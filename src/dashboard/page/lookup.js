import { changeButtons } from './change-buttons.js'
import { el, identity, table } from './dom.js'
import { clock, count, duration, isNetwork } from './format.js'
import { ask } from './server.js'

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

  /** Shows what limiters hold of an identity. */
  async function lookUp(text) {
    const turn = ++latest
    try {
      const { found } = await ask('lookup', { identity: text })
      if (turn === latest) results.replaceChildren(...panels(text, found))
    } catch (error) {
      if (turn === latest) results.replaceChildren(problem(error.message))
    }
  }

  function panels(text, found) {
    const summary = el(
      'p',
      { class: 'summary', tabindex: '-1' },
      `${summaryOf(text, found)} `,
      identity(text),
    )
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
      buttonsFor(text, found),
    )
  }

  /** Returns buttons that change what was typed: the server knows how the limiter spells it. */
  function buttonsFor(text, { limiter, standings, longestBlockMs }) {
    const buttons = changeButtons({
      actions,
      isNamed: true,
      start: () => ({ targets: [{ identity: text }], who: text }),
      async onDone(done) {
        onDone(done)
        await lookUp(text)
        results.querySelector('.summary')?.focus({ preventScroll: true }) // the button is gone
      },
    })
    const row = rows.get(limiter)
    buttons.show(
      row && { ...row, longestBlockMs },
      canChange,
      standings.length === 0 && isNetwork(text) && text.includes('/'),
    )
    return buttons.element
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

function summaryOf(text, found) {
  const isLimited = found.some(
    ({ standings, listing }) => listing === 'block' || standings.some(({ remaining }) => remaining === 0),
  )
  if (isLimited) return 'Limited:'
  if (found.some(({ problem }) => problem !== undefined)) return 'Some limiters could not be read for'
  if (found.some(({ standings }) => standings.length > 0)) return 'Not limited:'
  return isNetwork(text) ? 'No limiter counts this network as a client:' : 'No limiter has seen'
}

function problem(text) {
  return el('p', { class: 'problem', role: 'alert' }, text)
}
