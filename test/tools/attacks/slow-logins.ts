import { guessAt, OWN, VICTIM } from './accounts.js'
import type { Attack, Stage } from './attack.js'
import { ADDRESS, addressAt, MINUTE_MS } from './shapes.js'
import type { Hold } from './site.js'

/** How long a login takes, so that attempts in progress excuse denials. */
const LOGIN_MS = 10_000

/** Sends one request, whose handler waits. `index` counts the requests of an attack. */
type Send = (stage: Stage, index: number, hold: Hold) => Promise<unknown>

const guessFrom =
  (addressOf: (index: number) => string): Send =>
  (stage, i, hold) =>
    stage.guess({ account: VICTIM, from: addressOf(i), password: guessAt(i + 1), hold })

const guessFromOne = guessFrom(() => ADDRESS)
const logInToOwn: Send = (stage, _i, hold) => stage.logIn(OWN.account, ADDRESS, { hold })

/** Attempts whose outcome is unknown for as long as the guesser can have it, again and again. */
export const slowLogins: readonly Attack[] = [
  {
    name: 'slow logins, 10 at once each minute, one address',
    run: (stage) => sendEachMinute(stage, { count: 10, minutes: 200, send: guessFromOne }),
  },
  {
    name: 'slow logins, two at once each minute, one address',
    run: (stage) => sendEachMinute(stage, { count: 2, minutes: 200, send: guessFromOne }),
  },
  {
    name: 'slow logins, own ones among them, one address',
    run: (stage) =>
      sendEachMinute(stage, {
        count: 10,
        minutes: 200,
        send: (...sent) => (sent[1] % 2 === 0 ? guessFromOne : logInToOwn)(...sent),
      }),
  },
  {
    name: 'slow logins, 10 at once each minute, new addresses',
    run: (stage) => sendEachMinute(stage, { count: 10, minutes: 60, send: guessFrom(addressAt) }),
  },
]

interface Waves {
  readonly count: number
  readonly minutes: number
  readonly send: Send
}

/** Sends some requests at once each minute. The user tries ten times. */
async function sendEachMinute(stage: Stage, { count, minutes, send }: Waves): Promise<void> {
  for (let minute = 1; minute <= minutes; minute++) {
    await sendTogether(stage, count, (i, hold) => send(stage, minute * count + i, hold))
    if (minute % (minutes / 10) === 0) await stage.userTries()
    stage.site.advance(MINUTE_MS - LOGIN_MS)
  }
}

/** Sends requests at once. Those that reach the handler are in progress together. */
async function sendTogether(
  { site }: Stage,
  count: number,
  send: (index: number, hold: Hold) => Promise<unknown>,
): Promise<void> {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  const ended: Promise<unknown>[] = []
  const begunOrDenied = Array.from({ length: count }, (_, i) => {
    return new Promise<unknown>((resolve, reject) => {
      const answer = send(i, { begin: () => resolve(undefined), until })
      ended.push(answer)
      answer.then(resolve, reject)
    })
  })
  await Promise.all(begunOrDenied)
  site.advance(LOGIN_MS)
  release()
  await Promise.all(ended)
}
