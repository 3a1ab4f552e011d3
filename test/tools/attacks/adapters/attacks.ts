import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Site } from './login.js'

/** What the guesser sends after every fourth guess, in the hope that it clears the failures. */
export interface SiteAttack {
  readonly name: string
  /** The method and the path of the guesses. */
  readonly guesses: readonly [method: string, path: string]
  readonly between?: readonly [method: string, path: string]
}

export const SITE_ATTACKS: readonly SiteAttack[] = [
  { name: 'OPTIONS', guesses: ['POST', '/prefix/login'], between: ['OPTIONS', '/prefix/login'] },
  { name: 'GET', guesses: ['POST', '/prefix/login'], between: ['GET', '/prefix/login'] },
  { name: '/forgot', guesses: ['POST', '/prefix/login'], between: ['POST', '/prefix/forgot'] },
  { name: 'by GET', guesses: ['GET', '/all/login'] },
  { name: 'none', guesses: ['POST', '/route/login'] },
]

/** How many guesses an attack sends from each address. */
export const PER_ADDRESS = 12

/**
 * Guesses at an account of its own from some addresses, or as often from one that shows each device cookie
 * it gets. What is sent between may go to another process of the site. Returns how many guesses reached the
 * check of the password.
 */
export async function guessAt(
  site: Site,
  { name, guesses, between }: SiteAttack,
  addresses: number,
  isOneBrowser: boolean,
  other = site,
): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const account = `${name} ${isOneBrowser}`
  let cookie: string | undefined
  let reached = 0

  async function send(
    [method, path]: readonly [string, string],
    address: number,
    more: object,
    { port } = site,
  ): Promise<number> {
    const body = JSON.stringify({ username: account, ...more })
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-from': isOneBrowser ? account : `${account} ${address}`,
      ...(isOneBrowser && cookie !== undefined && { cookie }),
    }
    return new Promise((resolve, reject) => {
      const req = request({ host: '::1', port, method, path, agent, headers }, (res) => {
        cookie = res.headers['set-cookie']?.[0]?.split(';')[0] ?? cookie
        text(res).then(() => resolve(res.statusCode ?? 0), reject)
      })
      req.on('error', reject).end(body)
    })
  }

  for (let i = 0; i < addresses * PER_ADDRESS; i++) {
    const address = Math.floor(i / PER_ADDRESS)
    if ((await send(guesses, address, { password: `guess ${i}` })) === 401) reached++
    if (between !== undefined && i % 4 === 3) await send(between, address, {}, other)
  }
  agent.destroy()
  return reached
}
