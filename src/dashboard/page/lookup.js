import { el, identity, table } from './dom.js'
import { clock, count, duration } from './format.js'

const BLOCKS = [
  ['10 minutes', 600_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
]

const LISTINGS = {
  block: 'The block option lists this IP address, so it is always denied. Change the option to let it in.',
  allow: 'The allow option lists this IP address, so it is never limited.',
}

/** Sends an action. Returns the response, or throws an `Error` with what went wrong. */
async function post(action, body) {
  const response = await fetch(action, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined)
  if (response === undefined) throw new Error('The server is not responding.')
  const reply = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(reply.error ?? `The server responded with ${response.status}.`)
  return reply
}

/** Connects the form. Returns a function that looks up an identity. */
export function lookupForm(form, results) {
  const input = form.elements.namedItem('identity')
  let latest = 0

  /** Shows what limiters hold of an identity, below a heading: what was done, or what was found. */
  async function lookUp(text, done) {
    input.value = text
    const turn = ++latest
    try {
      const { found } = await post('lookup', { identity: text })
      if (turn === latest) results.replaceChildren(...shown(text, found, done))
    } catch (error) {
      if (turn === latest) results.replaceChildren(problem(error.message))
    }
  }

  function shown(text, found, done) {
    const [before, after] = done ?? [summaryOf(found), '']
    const summary = el('p', { class: 'summary', tabindex: '-1' }, `${before} `, identity(text), after)
    return [summary, ...found.map((each) => foundPanel(text, each))]
  }

  function foundPanel(text, { limiter, standings, longestBlockMs, listing, problem: failure }) {
    if (failure !== undefined) return el('div', { class: 'found' }, el('h3', {}, limiter), problem(failure))
    const act = (action, body, done) => async () => {
      try {
        await post(action, { identity: text, limiter, ...body })
        await lookUp(text, done)
        results.querySelector('.summary')?.focus({ preventScroll: true }) // the button is gone
      } catch (error) {
        results.querySelector(':scope > .problem')?.remove()
        results.prepend(problem(error.message))
      }
    }
    const choices = BLOCKS.filter(([, ms]) => ms <= longestBlockMs)
    if (choices.length === 0 && longestBlockMs > 0) choices.push([duration(longestBlockMs), longestBlockMs])
    const buttons = [
      standings.length > 0 &&
        button('Release', `Release in ${limiter}`, act('release', {}, ['Released', ` in ${limiter}.`])),
      ...choices.map(([name, durationMs]) =>
        button(
          `Block for ${name}`,
          `Block for ${name} in ${limiter}`,
          act('block', { durationMs }, ['Blocked', ` for ${name} in ${limiter}.`]),
        ),
      ),
    ].filter(Boolean)
    const hint = longestBlockMs === 0 ? 'This limiter has no ban, so it cannot block clients.' : undefined
    return el(
      'div',
      { class: 'found', 'data-found': limiter },
      el('h3', {}, limiter),
      listing && el('p', {}, LISTINGS[listing]),
      standings.length === 0 ? el('p', { class: 'quiet' }, 'No usage.') : standingTable(limiter, standings),
      el('p', { class: 'row' }, ...buttons, hint && el('span', { class: 'quiet' }, hint)),
    )
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void lookUp(input.value)
  })
  return (text) => {
    void lookUp(text)
    input.focus()
    form.scrollIntoView({ block: 'nearest' })
  }
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
