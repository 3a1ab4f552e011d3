import { createCode } from './code.js'
import { announce, byId, onChoice, setText } from './dom.js'
import { seconds } from './format.js'
import { send, sendForJson } from './http.js'
import { createOutageLane } from './outage-lane.js'
import { animate, createRun, repeat } from './run.js'

const REQUEST_EVERY_MS = 125
const POLL_EVERY_MS = 250
const LANES = {
  allow: 'Every request is allowed, without a limit.',
  deny: 'Every request gets a 503.',
  local: 'Each process applies its own limit.',
}
const NOTES = {
  on: 'The store is up.',
  rejects: 'Every call to the store fails at once.',
  hangs: 'The store accepts calls and never replies.',
}

const lanes = new Map(Object.entries(LANES).map(([name, note]) => [name, createOutageLane(name, note)]))
byId('outage-lanes').append(...Array.from(lanes.values(), (lane) => lane.element))

let mode = 'on'
let onSinceMs // since when the store is on again; undefined before the first outage, and once all recovered
let running = []

const run = createRun(byId('outage'), byId('outage-pause'), {
  start() {
    const senders = Array.from(lanes, ([name, lane]) => repeatAtRate(() => sendTo(name, lane)))
    running = [...senders, repeat(POLL_EVERY_MS, poll), animate(draw)]
  },
  stop() {
    for (const stop of running.splice(0)) stop()
  },
})

/** Sends at the same rate whether or not responses are slow. */
function repeatAtRate(work) {
  const timer = setInterval(work, REQUEST_EVERY_MS)
  return () => clearInterval(timer)
}

async function sendTo(name, lane) {
  const atMs = performance.now()
  const response = await send(`/outage/${name}`)
  if (response.status === 0) return
  lane.addResponse(atMs, response)
}

/** Reads the mode of the store, which another tab may have changed, and the states of the breakers. */
async function poll() {
  const chosen = mode
  const outage = await sendForJson('/outage')
  if (outage === undefined || mode !== chosen) return
  if (outage.mode !== mode) showMode(outage.mode)
  const nowMs = performance.now()
  for (const [name, lane] of lanes) lane.setBreaker(outage.breakers[name], nowMs)
  if (onSinceMs !== undefined) reportRecovery()
}

/** Says how long it took until all breakers were closed again. */
function reportRecovery() {
  const closed = Array.from(lanes.values(), (lane) => lane.closedAtMs())
  if (closed.includes(undefined)) return
  const tookMs = Math.max(...closed) - onSinceMs
  const text = tookMs > 0 ? `All breakers closed ${seconds(tookMs)} after the store came back.` : NOTES.on
  onSinceMs = undefined
  setText(byId('outage-note'), text)
  announce(text)
}

function showMode(next) {
  mode = next
  onSinceMs = mode === 'on' ? performance.now() : undefined
  setText(byId('outage-note'), NOTES[mode])
  document.querySelector(`[name=store][value=${mode}]`).checked = true
  for (const lane of lanes.values()) lane.setOutage(performance.now(), mode !== 'on')
}

function draw() {
  for (const lane of lanes.values()) lane.draw(performance.now())
}

onChoice('store', async (next) => {
  if (next === mode) return setText(byId('outage-note'), NOTES[mode])
  showMode(next)
  announce(NOTES[next])
  run.resume()
  await send(`/outage/${next}`, { method: 'PUT' })
})

createCode(byId('outage-code'))('on-store-error')
