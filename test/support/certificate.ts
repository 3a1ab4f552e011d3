import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findOrInstall } from './servers/install.js'

/** A certificate that signs itself, and its private key, in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Makes a certificate for this machine. */
export async function makeCertificate(): Promise<Certificate> {
  const openssl = await findOrInstall({ program: 'openssl', debianPackage: 'openssl' })
  const folder = await mkdtemp(join(tmpdir(), 'headgate-certificate-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  try {
    const words =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
    await promisify(execFile)(openssl, [...words.split(' '), '-keyout', key, '-out', cert])
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') }
  } finally {
    await rm(folder, { recursive: true })
  }
}
