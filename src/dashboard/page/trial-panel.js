import { el, identity, setChildren, setText } from './dom.js'
import { followedRead } from './followed-read.js'
import { count, counted, duration, moment, spelled } from './format.js'
import { ask } from './server.js'
import { startTrialDialog, stepDialog } from './trial-dialogs.js'

/** How often proposals are read again: processes report what they count as often. */
const FRESH_MS = 300_000
const MAX_NAMED = 5

/** Creates the panel with the proposals for the limits of a limiter, and the trial of one. */
export function trialPanel({ limiter, actions, onDone }) {
  const status = el('p', { class: 'quiet', role: 'status' }, 'Loading…')
  const body = el('div', { class: 'trial' })
  const element = el(
    'section',
    { class: 'panel', 'aria-labelledby': 'trial-title', 'data-panel': 'trial' },
    el('h2', { id: 'trial-title' }, 'Proposed limits'),
    status,
    body,
  )
  let tuning
  let can = { change: false, try: false }
  const { load, follow } = followedRead({
    read: readTuning,
    concerns: ({ limiter: name, kind }) => name === limiter && (kind === 'tune' || kind === 'settings'),
    freshMs: FRESH_MS,
  })

  async function readTuning(isLatest) {
    const read = await ask('tuning', { limiter }).catch((error) => error)
    if (!isLatest()) return false
    if (read instanceof Error) {
      setText(status, read.message)
      status.hidden = false
      return false
    }
    tuning = read
    draw()
    return true
  }

  function draw() {
    if (tuning === undefined) return
    const { proposals, trial } = tuning
    const isRunning = trial !== null && trial.phase !== 'ended'
    const isEmpty = proposals.length === 0 && trial === null
    status.hidden = !isEmpty
    setText(
      status,
      'Nothing has been counted yet. Every five minutes, processes report what clients asked for.',
    )
    setChildren(body, JSON.stringify([tuning, can]), () => [
      ...(trial === null ? [] : trialParts(trial)),
      ...(isRunning ? [] : proposals.flatMap(proposalParts)),
    ])
  }

  function trialParts(trial) {
    const { phase, watched, guarded, problem } = trial
    const canEnd = can.change && (phase === 'watching' || phase === 'ready' || phase === 'guarding')
    const context = { limiter, trial, actions, onDone: done }
    return [
      el('p', {}, el('span', { class: 'badge' }, 'trial'), ' ', stateText(trial)),
      problem === undefined ? undefined : el('p', { class: 'problem' }, spelled(problem)),
      watched && figures(watchedText(watched), watched),
      guarded && figures(`Denied so far, of ${counted(guarded.clients, 'client')} in good standing`, guarded),
      el(
        'div',
        { class: 'bar' },
        can.change && phase === 'ready' && button('Approve', () => stepDialog('approve', context)),
        canEnd && button('Stop', () => stepDialog('stop', context)),
      ),
    ].filter(Boolean)
  }

  function proposalParts(proposal) {
    const { limit, verdict, reason, cautions, newlyDenied, quantiles, apart } = proposal
    const isTried = can.change && can.try && limit !== undefined && verdict !== 'keep'
    return [
      el('p', {}, el('strong', {}, adviceText(proposal)), ' ', reason),
      quantiles?.length > 0 && el('p', { class: 'quiet' }, quantileText(quantiles)),
      apart && figures(apartText(apart), asGroup(apart)),
      ...cautions.map((text) => el('p', { class: 'quiet' }, text)),
      newlyDenied && figures(`Newly denied, of ${counted(proposal.clients, 'client')}`, asGroup(newlyDenied)),
      el(
        'div',
        { class: 'bar' },
        isTried &&
          button(`Try ${count(limit)}`, () =>
            startTrialDialog({ limiter, proposal, defaults: tuning.defaults, actions, onDone: done }),
          ),
      ),
    ].filter(Boolean)
  }

  function done(message) {
    onDone(message)
    void load()
  }

  /** Reads again when an event says that something has changed, and every five minutes. */
  function show(model) {
    if (!model.isKnown) return
    const next = { change: model.session.canChange, try: model.rows.get(limiter)?.hasSettings === true }
    if (next.change !== can.change || next.try !== can.try) {
      can = next
      draw()
    }
    follow(model.events)
  }

  return { element, show }
}

const button = (text, onclick) => el('button', { type: 'button', onclick }, text)

/** Returns what a trial does, in the words of its last event. */
function stateText({ phase, phaseSinceMs, watchMs, guardMs, events }) {
  const text = spelled(events.at(-1)?.text ?? phase)
  const lengthMs = phase === 'watching' ? watchMs : phase === 'guarding' ? guardMs : undefined
  const end = lengthMs === undefined ? '' : `, until ${moment(phaseSinceMs + lengthMs)}`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${end}.`
}

function adviceText({ limitName, verdict, inForce, limit, windowMs }) {
  const per = ` in ${duration(windowMs)}`
  if (verdict === 'unknown') return `${limitName}: no proposal.`
  if (verdict === 'keep') return `${limitName}: keep ${count(inForce)}${per}.`
  const what = verdict === 'set' ? 'set' : `${verdict} ${count(inForce)} to`
  return `${limitName}: ${what} ${count(limit)}${per}.`
}

/** Returns what clients asked for at most in a window. */
function quantileText(quantiles) {
  const parts = quantiles.map(({ share, peak }) =>
    share === 1 ? `the largest ${count(peak)}` : `${100 * share}% of clients at most ${count(peak)}`,
  )
  return `Peaks in one window: ${parts.join(', ')}.`
}

const BECAUSE = {
  gap: 'above a gap',
  median: 'at 100 times the median or more',
  denied: 'because the limit in force denies most of them',
}

function apartText({ because, smallestPeak, largestPeak }) {
  const peaks =
    smallestPeak === largestPeak ? count(largestPeak) : `${count(smallestPeak)} to ${count(largestPeak)}`
  return `Set apart ${BECAUSE[because]}, with peaks of ${peaks}`
}

const asGroup = ({ clients, largest }) => ({
  denied: clients,
  identities: largest.map((each) => each.identity),
})

function watchedText({ clients, from }) {
  const estimated = from === 'demands' ? ' (estimated)' : ''
  return `Newly denied by the candidate${estimated}, of ${counted(clients, 'client')}`
}

function figures(title, { denied, identities }) {
  const named = identities.slice(0, MAX_NAMED)
  const names = named.flatMap((name, i) => [i > 0 ? ', ' : ' (', identity(name)])
  const end = named.length === 0 ? '' : denied > named.length ? ' and others)' : ')'
  return el('p', {}, `${title}: ${count(denied)}`, ...names, end)
}
