import { headerOf } from '../keys/request.js'
import { hmacSha256, randomText } from '../platform.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { DEVICE_COOKIE, readDeviceCookies, secondsOf, setDeviceCookies } from './cookie-header.js'
import { type DeviceSettings, epochText } from './device-options.js'

/** The browser of an attempt, by what its cookies prove. */
export interface Browser {
  /** Which known device of the account it is, or `STRANGER`. */
  readonly device: string
  /** What a cookie for it is made from; absent if a guard has no device cookies. */
  readonly signing?: Signing
}

/** What the cookie of an attempt is signed for, and the device cookies that its request carries. */
interface Signing {
  /** Names the guard, the account, and its name in the spelling that was typed. */
  readonly login: string
  readonly epoch: string
  readonly cookies: ReadonlyMap<string, string>
  /** The name of the cookie under each secret, once it is computed. */
  readonly names: string[]
}

/** What the device of an unknown browser is. */
export const STRANGER = 'stranger'

export interface DeviceCookies {
  /**
   * Returns the browser of an attempt. Reads the cookies and the epoch before the charge: the headers of a
   * response cannot wait for them.
   */
  recognize(req: unknown, account: string, typed: string): MaybePromise<Browser>
  /** Returns the `Set-Cookie` headers of a response that make a browser a known device; perhaps none. */
  remember(req: unknown, browser: Browser): string[]
}

/** Returns whether two texts of the same length are equal, in a time that does not depend on where they differ. */
function isSameSecret(text: string, secret: string): boolean {
  let difference = text.length ^ secret.length
  for (let i = 0; i < secret.length; i++) difference |= text.charCodeAt(i) ^ secret.charCodeAt(i)
  return difference === 0
}

type CookieHash = (text: string) => string

const PROOF = /^([\w-]{16})\.([0-9a-z]{1,10})\.([\w-]{43})$/

/**
 * Creates the device cookies of OWASP's "Slow Down Online Guessing Attacks with Device Cookies": a proof
 * that this browser has logged in to this account before, so that it is counted apart from those who only
 * know the name. It holds no name, and does not log anyone in. It is valid for one account at the guard of
 * one prefix and name until it expires: a login at a public form proves nothing to the form of the staff.
 *
 * It is valid for one spelling of the name: the guard folds `"Ada"` and `"ada"` into one account, and the
 * application may not, so that the owner of one must not get a proof for the other.
 *
 * Each account has its own cookie, with a name that only the guard can compute. A form that another
 * site submits carries no SameSite=Lax cookie (RFC 6265bis §4.1.2.7): one cookie for all accounts would be
 * replaced by the response to an attacker's own login in the victim's browser.
 */
export function deviceCookies(
  { secret: secrets, epoch: epochOf, lasts: lastsMs }: DeviceSettings,
  prefix: string,
  guard: string,
): DeviceCookies {
  const hashes = secrets.map(hmacSha256)

  function nameBy(hash: CookieHash, i: number, { login, names }: Signing): string {
    names[i] ??= DEVICE_COOKIE + hash(`name${login}`).slice(0, 8)
    return names[i]
  }

  function signatureOf(hash: CookieHash, { login, epoch }: Signing, device: string, expires: string): string {
    return hash(`proof${login}${device}.${expires}.${epoch}`)
  }

  function knownDevice(signing: Signing): string | undefined {
    if (signing.cookies.size === 0) return undefined
    for (const [i, hash] of hashes.entries()) {
      const proof = PROOF.exec(signing.cookies.get(nameBy(hash, i, signing)) ?? '') ?? []
      const [, device = '', expires = '', signature = ''] = proof
      if (secondsOf(expires) * 1000 <= Date.now()) continue // or there is no proof
      const expected = signatureOf(hash, signing, device, expires)
      if (isSameSecret(signature, expected)) return device
    }
    return undefined
  }

  return {
    recognize(req, account, typed) {
      const cookies = readDeviceCookies(headerOf(req, 'cookie'))
      return thenMaybe(epochOf?.(account, req), (epoch) => {
        // JSON shows where each text ends, and where all of them end.
        const login = JSON.stringify([prefix, guard, account, typed])
        const signing: Signing = { login, epoch: epochText(epoch), cookies, names: [] }
        return { device: knownDevice(signing) ?? STRANGER, signing }
      })
    },
    remember(req, { device, signing }) {
      const [hash] = hashes
      if (signing === undefined || hash === undefined) return []
      // Where the form was submitted (W3C Fetch Metadata). A login from another site sets no cookie, one
      // from another origin of the same site removes none.
      const site = headerOf(req, 'sec-fetch-site')
      if (site === 'cross-site') return []
      const others = site === undefined || site === 'same-origin' ? signing.cookies : new Map()
      const id = device === STRANGER ? randomText(12) : device
      const expires = Math.ceil((Date.now() + lastsMs) / 1000).toString(36)
      const proof = `${id}.${expires}.${signatureOf(hash, signing, id, expires)}`
      return setDeviceCookies(nameBy(hash, 0, signing), proof, lastsMs, others)
    },
  }
}
