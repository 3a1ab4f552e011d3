import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { findOrInstall, type Machine } from './install.js'

let folder: string
let machine: Machine

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headgate-install-'))
  machine = {
    path: [folder, '/usr/bin', '/bin'].join(delimiter),
    root: true,
    policy: join(folder, 'policy'),
  }
})

afterEach(() => rm(folder, { recursive: true }))

const wanted = { program: ['no-such-server', 'nor-this-server'], debianPackage: 'a-server' }

async function program(name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, ['#!/bin/sh', ...lines, ''].join('\n'))
  await chmod(path, 0o755)
  return path
}

/** An apt-get that writes down how it was called, with the answer of the policy at that time. */
const fakeAptGet = (...lines: string[]) =>
  program('apt-get', 'cd "$(dirname "$0")"', 'sh ./policy; echo "$* policy=$?" >>calls', ...lines)

const calls = async () => (await readFile(join(folder, 'calls'), 'utf8')).trimEnd().split('\n')

const exists = async (name: string) => (await readdir(folder)).includes(name)

const INSTALL = '-o DPkg::Lock::Timeout=120 install -y --no-install-recommends a-server policy=101'

test('a program that is on the machine is used, the first name before the second', async () => {
  const second = await program('nor-this-server')
  expect(await findOrInstall(wanted, machine)).toBe(second)
  const first = await program('no-such-server')
  expect(await findOrInstall(wanted, machine)).toBe(first)
})

test('extra folders come before those of PATH, and are looked up again after an installation', async () => {
  const folders = async () => ((await exists('further')) ? [join(folder, 'further')] : [])
  await fakeAptGet('mkdir further && cp apt-get further/no-such-server')
  const further = join(folder, 'further', 'no-such-server')
  expect(await findOrInstall({ ...wanted, folders }, machine)).toBe(further)
  await program('no-such-server')
  expect(await findOrInstall({ ...wanted, folders }, machine)).toBe(further)
})

test('a missing program is installed, and its service is not started', async () => {
  await fakeAptGet('cp apt-get nor-this-server')
  expect(await findOrInstall(wanted, machine)).toBe(join(folder, 'nor-this-server'))
  expect(await calls()).toEqual([INSTALL])
  await expect(readFile(machine.policy)).rejects.toThrow('ENOENT')
})

test('the package lists are fetched if the package is not known', async () => {
  await fakeAptGet('case "$*" in update) touch lists;; *) [ -e lists ] && cp apt-get no-such-server;; esac')
  await findOrInstall(wanted, machine)
  expect(await calls()).toEqual([INSTALL, 'update policy=101', INSTALL])
})

test('concurrent requests for a program install it once', async () => {
  await fakeAptGet('sleep 0.1', 'cp apt-get no-such-server')
  await Promise.all([1, 2, 3].map(() => findOrInstall(wanted, machine)))
  expect(await calls()).toEqual([INSTALL])
})

test('an existing policy-rc.d of the machine is left alone', async () => {
  await program('policy', 'exit 42')
  await fakeAptGet('cp apt-get no-such-server')
  await findOrInstall(wanted, machine)
  expect(await calls()).toEqual([INSTALL.replace('101', '42')])
  expect(await readFile(machine.policy, 'utf8')).toContain('exit 42')
})

describe('the error names the line to run', () => {
  const line = 'Run: sudo apt-get update && sudo apt-get install -y --no-install-recommends a-server'

  test('where the user is not root', async () => {
    await fakeAptGet()
    const refused = findOrInstall({ ...wanted, instead: 'set A_URL' }, { ...machine, root: false })
    await expect(refused).rejects.toThrow(
      `no-such-server is not installed, and installing it needs root and apt-get. ${line} (or set A_URL)`,
    )
  })

  test('where there is no apt-get', async () => {
    await expect(findOrInstall(wanted, { ...machine, path: folder })).rejects.toThrow(line)
  })

  test('where apt-get fails', async () => {
    await fakeAptGet('echo no network >&2', 'exit 100')
    const failed = findOrInstall(wanted, machine)
    await expect(failed).rejects.toThrow(`no-such-server could not be installed. ${line}`)
    await expect(failed).rejects.toMatchObject({ cause: { stderr: 'no network\nno network\n' } })
  })

  test('where the package does not hold the program', async () => {
    await fakeAptGet()
    await expect(findOrInstall(wanted, machine)).rejects.toThrow(
      `The package a-server does not contain no-such-server.`,
    )
  })
})
