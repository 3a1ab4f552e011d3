import { randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/**
 * One of the settings in OWASP's Password Storage cheat sheet: 16 MiB and about a fifth of a second per
 * password.
 */
const COST = { N: 2 ** 14, r: 8, p: 5 }
const BYTES = 32

const derive = promisify<string, Buffer, number, typeof COST, Buffer>(scrypt)

interface Kept {
  readonly salt: Buffer
  readonly hash: Buffer
}

async function keep(password: string, salt: Buffer = randomBytes(16)): Promise<Kept> {
  return { salt, hash: await derive(password.normalize('NFKC'), salt, BYTES, COST) }
}

/**
 * Creates a check of a name and a password. It does the same work for an unknown name, so that the response
 * time does not reveal which names exist.
 */
export async function passwordCheck(
  passwords: Readonly<Record<string, string>>,
): Promise<(name: string, password: string) => Promise<boolean>> {
  const accounts = new Map<string, Kept>() // in production a database table
  for (const [name, password] of Object.entries(passwords)) accounts.set(name, await keep(password))
  const nobodys = await keep(randomUUID())

  return async function isRight(name, password) {
    const { salt, hash } = accounts.get(name) ?? nobodys
    const isIt = timingSafeEqual((await keep(password, salt)).hash, hash)
    return isIt && accounts.has(name)
  }
}
