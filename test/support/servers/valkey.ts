import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { find, type Machine, thisMachine } from './install.js'
import { NotInstalled } from './not-installed.js'
import { findRedis, type RedisServer, startRedisNode } from './redis-node.js'

const CACHE = resolve(__dirname, '../../../.cache')

/** Starts a Valkey server that keeps nothing on disk. */
export async function startValkey(): Promise<RedisServer> {
  await findRedis() // brings the libraries that Valkey needs as well
  return startRedisNode('valkey', () => [], [], await findValkey())
}

/**
 * Unpacks Debian's packages of Valkey unless another test process, which held the lock before, already has.
 * Debian 12 has them in its backports only: apt-get gets these as its only source, and lists and a cache of
 * its own, so that the machine's stay as they are.
 */
const UNPACK = `
set -eu
folder=$1 suite=$2
[ ! -x "$folder/usr/bin/valkey-server" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p lists/partial cache/archives/partial
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >sources
apt() {
  apt-get -o Dir::Etc::SourceList="$work/sources" -o Dir::Etc::SourceParts=- \\
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User= "$@"
}
apt update
apt download valkey-server valkey-tools
for package in *.deb; do dpkg-deb -x "$package" tree; done
rm -rf "$folder"
mv tree "$folder"`

/** The path of valkey-server: one that is on this machine, or else that of Debian 12's backports. */
export async function findValkey(machine: Machine = thisMachine(), cache = CACHE): Promise<string> {
  const folder = join(cache, 'valkey')
  const wanted = { program: 'valkey-server', folders: async () => [join(folder, 'usr/bin')] }
  const found = await find(wanted, machine)
  if (found) return found
  const hint = 'Install Valkey 7.2 or newer, so that valkey-server is in PATH.'
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8').catch(() => ''))
  if (codename?.[1] !== 'bookworm' || !(await find({ program: 'apt-get' }, machine)))
    throw new NotInstalled('valkey-server is not installed, and this is not Debian 12 with apt-get.', hint)
  await mkdir(cache, { recursive: true })
  const script = ['sh', '-c', UNPACK, 'unpack', folder, `${codename[1]}-backports`]
  try {
    await promisify(execFile)('flock', [cache, ...script], { env: { ...process.env, PATH: machine.path } })
  } catch (cause) {
    throw new NotInstalled("valkey-server could not be unpacked from Debian's backports.", hint, { cause })
  }
  return join(folder, 'usr/bin/valkey-server')
}
