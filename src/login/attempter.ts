import type { IncomingMessage } from 'node:http'
import { hashedValue, isKey } from '../keys/identity.js'
import { isPromise } from '../util/maybe-promise.js'
import type { LoginSettings } from './options.js'

/** Who attempted, as a log may see it. */
export interface Attempter {
  readonly account: string
  readonly address: string | undefined
}

/** Reads who attempted. Where the address has to be waited for it is left out. */
export function attempterReader<Req extends IncomingMessage>(
  { address, showsAccount }: LoginSettings<Req, never>,
  secret: string | undefined,
): (req: Req, name: unknown) => Attempter {
  function sourceOf(req: Req): string | undefined {
    try {
      const source = address(req)
      if (isPromise(source)) source.then(undefined, () => undefined)
      return typeof source === 'string' ? source : undefined
    } catch {
      return undefined // it was there when the limiter asked, and is not any more
    }
  }

  return (req, name) => {
    return {
      account: isKey(name) ? (showsAccount ? escaped(String(name)) : hashedValue(name, secret)) : 'unknown',
      address: sourceOf(req),
    }
  }
}

/** So that a name ends neither the field of a log nor its line (ASVS 5.0, 16.4.1). */
function escaped(name: string): string {
  return encodeURIComponent(name).replaceAll('%40', '@')
}
