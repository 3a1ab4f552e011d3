import { ATTACKS } from './attack.js'
import { createAttackChart } from './attack-chart.js'
import { createCode } from './code.js'
import { announce, byId, onChoice, setText } from './dom.js'
import { send, sendForJson } from './http.js'
import { animate, createRun, createStopwatch, runAt } from './run.js'

const ATTACK_MS = 30_000
const GUESS_EVERY_MS = 50
const SIGN_IN_EVERY_MS = 2000
const ADA = { username: 'ada', password: 'analytical engine' }

const chart = createAttackChart(byId('attack-chart'), ATTACK_MS)
const watch = createStopwatch()
const counts = { sent: 0, checked: 0 }
const signIns = { known: { worked: 0, tried: 0 }, new: { worked: 0, tried: 0 } }
let attack
let nextGuess // undefined until the attack has begun
let running = []
const pending = new Set() // guesses without a response yet

const run = createRun(byId('login'), byId('attack-pause'), {
  start: () => (nextGuess ? proceed() : startOver()),
  stop: halt,
})

/** Starts the attack from its beginning: Ada signs in once, so that the server knows her browser. */
async function startOver() {
  halt()
  watch.reset()
  chart.clear()
  Object.assign(counts, { sent: 0, checked: 0 })
  for (const outcome of Object.values(signIns)) Object.assign(outcome, { worked: 0, tried: 0 })
  const begun = attack
  await Promise.all(pending) // else they would count after the account is forgotten
  await send('/login', { method: 'DELETE' })
  await post(ADA, { credentials: 'same-origin' })
  if (begun !== attack || running.length > 0) return // another one was chosen meanwhile
  nextGuess = attack.start()
  if (run.isActive) proceed()
}

function proceed() {
  if (watch.ms() >= ATTACK_MS) return
  watch.start()
  running = [
    runAt(times(GUESS_EVERY_MS), guess),
    runAt(times(SIGN_IN_EVERY_MS, 500), () => signIn('known', 'same-origin')),
    runAt(times(SIGN_IN_EVERY_MS, 1500), () => signIn('new', 'omit')),
    animate(draw),
  ]
}

function halt() {
  watch.stop()
  for (const stop of running.splice(0)) stop()
}

/** The times of something that happens again and again until the attack ends. */
function* times(everyMs, afterMs = 0) {
  const startMs = performance.now()
  const endMs = startMs + ATTACK_MS - watch.ms()
  for (let at = startMs + afterMs; at < endMs; at += everyMs) yield at
}

/** Sends a form to the login, without cookies unless `options` says otherwise. */
function post(fields, options) {
  return send('/login', {
    method: 'POST',
    credentials: 'omit',
    body: new URLSearchParams(fields),
    ...options,
  })
}

async function guess() {
  const [begun, atMs] = [attack, watch.ms()]
  const { address, ...fields } = nextGuess(counts.sent++)
  const sent = post(fields, { headers: { 'X-Forwarded-For': address } })
  pending.add(sent)
  const { status } = await sent
  pending.delete(sent)
  if (begun !== attack) return
  if (status === 401) counts.checked++
  chart.addGuesses(atMs, counts.sent, counts.checked)
}

async function signIn(browser, credentials) {
  const [begun, atMs, outcome] = [attack, watch.ms(), signIns[browser]]
  const { status } = await post(ADA, { credentials })
  if (begun !== attack || status === 0) return
  outcome.tried++
  if (status === 200) outcome.worked++
  chart.addSignIn(browser, atMs, status === 200)
}

function draw() {
  setText(byId('guesses-sent'), String(counts.sent))
  setText(byId('guesses-checked'), String(counts.checked))
  for (const [browser, { worked, tried }] of Object.entries(signIns))
    setText(byId(`${browser}-worked`), `${worked} of ${tried}`)
  chart.draw(watch.ms())
  if (watch.ms() < ATTACK_MS) return
  halt()
  announce(`The attack is over: ${counts.sent} guesses sent, ${counts.checked} checked.`)
}

onChoice('attack', (name) => {
  attack = ATTACKS[name]
  setText(byId('attack-note'), attack.note)
  again()
})

byId('attack-again').addEventListener('click', () => {
  attack = { ...attack } // responses to the guesses of the last one no longer count
  again()
})

function again() {
  nextGuess = undefined
  if (run.isActive) startOver()
  else run.resume()
}

async function showLimits() {
  const rows = (await sendForJson('/login/limits')) ?? []
  for (const { limit, key, policy } of rows) {
    const row = document.querySelector('#login-limits tbody').insertRow()
    for (const text of [limit, key, policy]) row.insertCell().textContent = text
  }
}

createCode(byId('login-code'))('login-guard')
showLimits()
