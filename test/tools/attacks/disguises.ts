import { accountAt, LEAKED, NUMBERED_VICTIM, SPELT_VICTIM, VICTIM } from './accounts.js'
import { type Attack, type Form, form, guessEvenly } from './attack.js'
import { ADDRESS, addressAt, HOUR_MS, list } from './shapes.js'
import { INVISIBLE_SPELLINGS, MALFORMED, NUMBERS, SPELLINGS } from './spellings.js'

const OTHER_USER = accountAt(100)

/** Who looks like others: by the spelling of the name, or by the address. */
export const disguises: readonly Attack[] = [
  respelt('spellings of one name, new addresses', SPELT_VICTIM, SPELLINGS.map(form)),
  respelt('invisible characters in a name, new addresses', SPELT_VICTIM, INVISIBLE_SPELLINGS.map(form)),
  respelt('a number for a name, new addresses', NUMBERED_VICTIM, NUMBERS),
  respelt('arrays and objects for a name, new addresses', SPELT_VICTIM, MALFORMED),
  {
    name: 'IPv6, 100 at once within one /56, one account',
    async run(stage) {
      const guesses = list(100, (i) => ({ account: VICTIM, from: ipv6At(0, i) }))
      await Promise.all(guesses.map((guess) => stage.guess(guess)))
      await stage.userTries()
    },
  },
  rotation('IPv6 within one /56, 200 accounts, one leaked password', 1, 200),
  rotation('IPv6 within four /56, 400 accounts, the same', 4, 400),
  rotation('IPv6 within 256 /56 (a /48), 400 accounts, the same', 256, 400),
  {
    name: 'spoofed X-Forwarded-For, no proxy is trusted',
    user: OTHER_USER,
    trustsProxy: false,
    run: (stage) =>
      guessEvenly(
        stage,
        list(200, (i) => ({ account: accountAt(i), from: addressAt(i), password: LEAKED })),
        { overMs: HOUR_MS },
      ),
  },
  {
    name: 'spoofed X-Forwarded-For before what the proxy adds',
    user: OTHER_USER,
    run: (stage) =>
      guessEvenly(
        stage,
        list(200, (i) => ({
          account: accountAt(i),
          from: `${addressAt(i)}, ${ADDRESS}`,
          password: LEAKED,
        })),
        { overMs: HOUR_MS },
      ),
  },
]

/** Every form once, each from a new address, so that only the limits of the account hold. */
function respelt(name: string, account: string, forms: readonly Form[]): Attack {
  return {
    name,
    user: account,
    async run(stage) {
      for (const [i, each] of forms.entries()) await stage.guess({ account, from: addressAt(i), form: each })
      await stage.userTries()
    },
  }
}

/** One leaked password, each time from another address of some networks that lie side by side. */
function rotation(name: string, networks: number, accounts: number): Attack {
  return {
    name,
    user: OTHER_USER,
    run: (stage) =>
      guessEvenly(
        stage,
        list(accounts, (i) => ({ account: accountAt(i), from: ipv6At(i % networks, i), password: LEAKED })),
        { overMs: HOUR_MS },
      ),
  }
}

/** An address in one of the /56 of a /48: in any of its /64, and another one for each number. */
function ipv6At(network: number, index: number): string {
  return `2001:db8:7:${(network * 256 + (index % 251)).toString(16)}::${(index + 1).toString(16)}`
}
