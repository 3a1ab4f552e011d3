import { createAnswer } from './answer.js'
import { createCode } from './code.js'
import { announce, byId, onChoice, setText } from './dom.js'
import { send, sendForJson } from './http.js'
import { createLane } from './lane.js'
import { PATTERNS } from './patterns.js'
import { animate, createRun, repeat, runAt } from './run.js'

const POLICIES = [
  { name: 'token-bucket', title: 'Token bucket', note: 'Ten at once, then one a second.' },
  { name: 'sliding-window', title: 'Sliding window', note: 'Ten in about ten seconds, counted in slices.' },
  { name: 'fixed-window', title: 'Fixed window', note: 'Ten in each ten seconds on the clock.' },
  {
    name: 'first-request',
    title: 'First request',
    note: 'Ten in the ten seconds after the first request.',
  },
  { name: 'ban', title: 'Ban', note: 'Sliding window; eight denials start a ban.' },
]
const WINDOW_MS = 10_000
const PEEK_EVERY_MS = 250

const section = byId('policies')
const answer = createAnswer(byId('policy-answer'))
const showCode = createCode(byId('policy-code'))
const lanes = new Map(POLICIES.map((policy, i) => [policy.name, createLane(policy, i === 0)]))
byId('lanes').append(...Array.from(lanes.values(), (lane) => lane.element))

let picked
let pattern
let borderAtMs = 0
let stopTraffic = () => {}
let isReady = false // the server has forgotten what an earlier pattern used
const pending = new Set() // requests without a response yet
const running = []

const run = createRun(section, byId('pause'), {
  start() {
    running.push(repeat(PEEK_EVERY_MS, peek), animate(draw))
    startTraffic()
  },
  stop() {
    stopTraffic()
    for (const stop of running.splice(0)) stop()
  },
})

/** Forgets what was used, and sends the pattern from its beginning. */
async function startOver() {
  stopTraffic()
  isReady = false
  await Promise.all(pending)
  await send('/traffic', { method: 'DELETE' })
  for (const lane of lanes.values()) lane.clear()
  await peek()
  isReady = true
  if (run.isActive) startTraffic()
}

function startTraffic() {
  stopTraffic()
  if (!isReady) return // `startOver` goes on
  stopTraffic = runAt(pattern.times(performance.now(), borderAtMs), sendToAll)
}

/** Sends one request to each policy at the same time. */
async function sendToAll() {
  const sent = Promise.all(Array.from(lanes, ([name, lane]) => sendTo(name, lane)))
  pending.add(sent)
  await sent
  pending.delete(sent)
}

async function sendTo(name, lane) {
  const response = await send(`/traffic/${name}`)
  if (response.status === 0) return
  lane.addResponse(response.status === 200)
  if (name === picked) answer.show(response)
}

/** Reads what is left of each quota, which takes nothing, and where the clock of the server stands. */
async function peek() {
  const peeked = await sendForJson('/traffic')
  if (peeked === undefined) return
  borderAtMs = performance.now() + WINDOW_MS - (peeked.nowMs % WINDOW_MS)
  lanes.get('fixed-window').showBorders(borderAtMs, WINDOW_MS)
  for (const [name, lane] of lanes) lane.setQuota(peeked.quotas[name])
}

function draw() {
  for (const lane of lanes.values()) lane.draw(performance.now())
}

onChoice('policy', (name) => {
  picked = name
  const { title, note } = POLICIES.find((policy) => policy.name === name)
  setText(byId('policy-title'), title)
  setText(byId('policy-note'), note)
  answer.clear('Waiting for the next response.')
  showCode(name)
})

onChoice('pattern', (name) => {
  const isFirst = pattern === undefined
  pattern = PATTERNS[name]
  setText(byId('pattern-note'), pattern.note)
  if (!isFirst) run.resume()
  startOver()
})

byId('send-one').addEventListener('click', async () => {
  await sendToAll()
  await peek()
  draw()
  announce(`One request sent to each policy. ${document.querySelector('#policies .status').textContent}.`)
})
