import { CHANGES } from './change-made.js'
import { el, identity, setChildren, setText } from './dom.js'
import { followedRead } from './followed-read.js'
import { count, counted, moment, shortened, spelled } from './format.js'
import { valueText, whyOf } from './part-text.js'
import { addressOf } from './route.js'
import { ask } from './server.js'
import { undoButton } from './undo.js'

const KINDS = {
  block: 'blocked',
  ban: 'banned',
  exempt: 'exempt',
  raise: 'raised limit',
  limit: 'changed limit',
  mode: 'mode',
  candidate: 'candidate',
}
/** What is undone, as part of a sentence. */
const UNDONE = { ...KINDS, block: 'block', ban: 'ban', exempt: 'exemption', mode: 'changed mode' }
const MAX_TARGETS = 3
const HEADS = ['Limiter', 'Change', 'Applies to', 'Until', 'Changed by', '']

/** Creates the view of what is in force in all limiters: bans, blocks, exemptions, and changed limits. */
export function inForceView({ actions, onDone }) {
  const list = inForceList({ actions, onDone })
  const element = el(
    'section',
    { class: 'page', 'aria-labelledby': 'in-force-title' },
    el('h1', { id: 'in-force-title', tabindex: '-1' }, 'In force'),
    el('p', { class: 'lead' }, 'What operators have changed from the code, and bans of denied clients.'),
    list.element,
  )
  return { element, open: list.expire, show: list.show }
}

/** Creates a list of what is in force in one limiter, or in all. It is read again after each change. */
export function inForceList({ limiter, actions, onDone }) {
  const body = el('tbody')
  const note = el('p', { class: 'quiet', role: 'status' }, 'Loading…')
  const problems = el('div', { class: 'problems-of-list' })
  const heads = limiter === undefined ? HEADS : HEADS.slice(1)
  const table = el(
    'table',
    { class: 'in-force', hidden: true },
    el('caption', { class: 'visually-hidden' }, 'In force'),
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        ...heads.map((text) => el(text === '' ? 'td' : 'th', text === '' ? {} : { scope: 'col' }, text)),
      ),
    ),
    body,
  )
  const element = el(
    'div',
    { class: 'in-force-list', role: 'group', 'aria-label': 'List of what is in force', tabindex: '0' },
    problems,
    note,
    table,
  )
  /** What was read last; `undefined` before the first reply. */
  let read
  /** Why the last read failed. */
  let problem
  let canChange = false
  /** The time of the figures, and the next time at which something ends. */
  let atMs = 0
  let nextEndMs = Number.POSITIVE_INFINITY
  const { load, follow, expire } = followedRead({
    read: readList,
    concerns: (event) => CHANGES.includes(event.kind) && (limiter ?? event.limiter) === event.limiter,
    includes: ({ limiter: name, details }) =>
      read?.some((each) => each.limiter === name && each.base && each.base === details?.change),
  })
  const context = { actions, onDone: (...done) => void load().then(() => onDone(...done)) }

  async function readList(isLatest) {
    const reply = await ask('in-force', limiter === undefined ? {} : { limiter }).catch((error) => error)
    if (!isLatest()) return false
    problem = reply.limiters === undefined ? reply.message : undefined
    read = reply.limiters ?? read
    draw()
    return problem === undefined && read.every((each) => each.problem === undefined)
  }

  function draw() {
    if (read === undefined) return setText(note, problem ?? 'Reading…')
    const entries = read.flatMap((each) => each.entries.filter(isLasting).map((entry) => [each, entry]))
    nextEndMs = Math.min(...entries.map(([, { untilMs }]) => untilMs ?? Number.POSITIVE_INFINITY))
    const failed = read.filter(({ problem }) => problem !== undefined)
    const more = read.reduce((sum, each) => sum + each.total - each.entries.length, 0)
    setChildren(problems, JSON.stringify(failed), () =>
      failed.map((each) => el('p', { class: 'problem' }, `${each.limiter}: ${each.problem}`)),
    )
    const texts = [
      problem,
      entries.length === 0 && failed.length === 0 && problem === undefined && NOTHING,
      more > 0 && `${count(more)} more are not listed.`,
      bansText(read),
    ]
    setText(note, texts.filter(Boolean).join(' '))
    table.hidden = entries.length === 0
    setChildren(body, JSON.stringify([entries, canChange]), () => entries.map(row))
  }

  const isLasting = ({ untilMs }) => untilMs === undefined || untilMs > atMs

  function row([found, entry]) {
    const { kind, untilMs, by, reason, atMs, count: targets } = entry
    const link = el('a', { href: addressOf({ view: 'limiter', name: found.limiter }) }, found.limiter)
    return el(
      'tr',
      {},
      limiter === undefined ? el('td', {}, link) : undefined,
      el(
        'td',
        { class: 'what' },
        el('span', { class: `badge is-${kind}` }, KINDS[kind]),
        ' ',
        valueText(entry),
      ),
      el('td', {}, targets === 0 ? 'everyone' : targetsOf(entry)),
      el(
        'td',
        untilMs === undefined ? {} : { class: 'until' },
        untilMs === undefined ? 'no end' : moment(untilMs),
      ),
      el('td', { class: 'why' }, whyOf({ by, reason, atMs })),
      el('td', { class: 'number' }, canChange ? undoOf(found, entry) : undefined),
    )
  }

  function undoOf(found, entry) {
    const { kind, by, paths, targets, count: all } = entry
    const whom = all === 0 ? '' : ` of ${all === 1 ? spelled(shortened(targets[0])) : counted(all, 'target')}`
    const undone = {
      limiter: found.limiter,
      what: `the ${UNDONE[kind]}${whom}${by ? ` by ${spelled(by)}` : ''}`,
    }
    const how =
      kind === 'ban'
        ? { action: 'release', body: { targets: [{ identity: targets[0] }] } }
        : { body: { paths, base: found.base } }
    const label = `Undo the ${UNDONE[kind]}${whom} in ${found.limiter}`
    return undoButton(label, { ...undone, ...how }, context)
  }

  /** Reads the list when it is opened, and follows changes. What ends is listed no longer. */
  function show(model) {
    if (!model.isKnown) return
    atMs = model.atMs
    if (canChange !== model.session.canChange || atMs >= nextEndMs) {
      canChange = model.session.canChange
      draw()
    }
    follow(model.events)
  }

  return { element, load, expire, show }
}

const NOTHING = 'Nothing: the limits in the code apply to everyone.'

/** Returns whose bans are listed: a store cannot be asked for all. */
function bansText(read) {
  const banned = read.flatMap((each) => each.banned ?? [])
  if (banned.length === 0) return ''
  const [looked, unread, blocked] = ['looked', 'unread', 'unreadBlocked'].map((name) =>
    banned.reduce((sum, each) => sum + each[name], 0),
  )
  const others = [
    unread > 0 && `${count(unread)} that were denied less`,
    blocked > 0 && `${count(blocked)} that operators blocked earlier`,
  ].filter(Boolean)
  const but = others.length > 0 ? `, but not for ${others.join(', or for ')}` : ''
  return `Bans are listed for the clients that operators blocked last, and for ${counted(looked, 'client')} denied recently${but}.`
}

function targetsOf({ targets, count: all }) {
  const shown = targets.slice(0, MAX_TARGETS).flatMap((text, i) => [i > 0 ? ', ' : '', identity(text)])
  const rest = all - Math.min(MAX_TARGETS, targets.length)
  return el('span', {}, ...shown, rest > 0 ? ` and ${count(rest)} more` : '')
}
