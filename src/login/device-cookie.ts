import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { headerOf } from '../keys/key.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { DEVICE_COOKIE, readDeviceCookies, secondsOf, setDeviceCookies } from './cookie-header.js'
import { type DeviceSettings, epochText } from './device-options.js'

/** What a cookie is signed for: an account, its name in the spelling that was typed, and its epoch. */
type Signed = readonly [account: string, typed: string, epoch: string]

/** The browser of an attempt, by what its cookies prove. */
export interface Browser {
  /** Which known device of the account it is, or `STRANGER`. */
  readonly device: string
  /** Makes it a known device. Must be called before the headers of the response are sent. */
  remember?(res: ServerResponse): void
}

/** What the device of an unknown browser is. */
export const STRANGER = 'stranger'

/**
 * Returns the browser of an attempt. Reads the cookies and the epoch before the charge: the headers of a
 * response cannot wait for them.
 */
export type RecognizeBrowser<Req> = (req: Req, account: string, typed: string) => MaybePromise<Browser>

const PROOF = /^([\w-]{16})\.([0-9a-z]{1,10})\.([\w-]{43})$/

/**
 * Creates the device cookies of OWASP's "Slow Down Online Guessing Attacks with Device Cookies": a proof
 * that this browser has logged in to this account before, so that it is counted apart from those who only
 * know the name. It holds no name, lets nobody in, and is valid for one account at the guard of one prefix
 * and name until it expires: a login at a public form proves nothing to the form of the staff.
 *
 * It is valid for one spelling of the name: the guard folds `"Ada"` and `"ada"` into one account, and the
 * application may not, so that the owner of one must not get a proof for the other.
 *
 * Each account has a cookie of its own, with a name that only the guard can compute. A form that another
 * site submits carries no SameSite=Lax cookie (RFC 6265bis §4.1.2.7): one cookie for all accounts would be
 * replaced by the response to an attacker's own login in the victim's browser.
 */
export function deviceCookie<Req extends IncomingMessage>(
  { secret: secrets, epoch: epochOf, lasts: lastsMs }: DeviceSettings,
  prefix: string,
  guard: string,
): RecognizeBrowser<Req> {
  function keyedHash(secret: string, ...texts: readonly string[]): string {
    return createHmac('sha256', secret)
      .update(JSON.stringify([prefix, guard, ...texts]))
      .digest('base64url')
  }

  function nameOf(secret: string, [account, typed]: Signed): string {
    return DEVICE_COOKIE + keyedHash(secret, 'device cookie', account, typed).slice(0, 8)
  }

  function knownDevice(cookies: ReadonlyMap<string, string>, signed: Signed): string | undefined {
    if (cookies.size === 0) return undefined
    for (const secret of secrets) {
      const proof = PROOF.exec(cookies.get(nameOf(secret, signed)) ?? '') ?? []
      const [, device = '', expires = '', signature = ''] = proof
      if (secondsOf(expires) * 1000 <= Date.now()) continue // or there is no proof
      const expected = keyedHash(secret, 'device', ...signed, device, expires)
      if (timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return device
    }
    return undefined
  }

  function sign(signed: Signed, device: string, cookies: ReadonlyMap<string, string>): string[] {
    const [secret = ''] = secrets
    const expires = Math.ceil((Date.now() + lastsMs) / 1000).toString(36)
    const proof = `${device}.${expires}.${keyedHash(secret, 'device', ...signed, device, expires)}`
    return setDeviceCookies(nameOf(secret, signed), proof, lastsMs, cookies)
  }

  return function recognizeBrowser(req, account, typed) {
    const cookies = readDeviceCookies(headerOf(req, 'cookie'))
    return thenMaybe(epochOf?.(account, req as never), (epoch) => {
      const signed: Signed = [account, typed, epochText(epoch)]
      const device = knownDevice(cookies, signed)
      return {
        device: device ?? STRANGER,
        remember(res) {
          // Where the form was submitted (W3C Fetch Metadata). A login from another site sets no cookie,
          // one from another origin of the same site removes none.
          const site = headerOf(req, 'sec-fetch-site')
          if (site === 'cross-site') return
          const others = site === undefined || site === 'same-origin' ? cookies : new Map()
          const id = device ?? randomBytes(12).toString('base64url')
          res.appendHeader('Set-Cookie', sign(signed, id, others))
        },
      }
    })
  }
}
