import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { fetchPackages } from '../../../e2e/package/fetched.js'
import { ownEnvironment } from '../../../e2e/package/run.js'
import type { Site } from '../adapters/login.js'
import { packagesOf, type Variant } from './variants.js'

/** A site beside a neighbor, and one of another process that shares its stores and has seen no request. */
export interface Neighbor extends Site {
  readonly other: Site
}

/** Starts the site of a variant. */
export async function startNeighbor(variant: Variant): Promise<Neighbor> {
  const { folder: name, packages } = packagesOf(variant)
  const folder = await fetchPackages(name, packages)
  const server = await buildServer(folder)
  const child = spawn(process.execPath, [server, folder, JSON.stringify(variant)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...ownEnvironment(), NODE_NO_WARNINGS: '1' },
  })
  const exited = once(child, 'exit')
  const close = async () => {
    child.kill()
    await exited
  }
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('[')) continue
    const [port, other] = JSON.parse(line)
    return { port, close, other: { port: other, close } }
  }
  throw new Error(`the site of ${variant.name} ended before it had printed its ports`)
}

const buildingIn = new Map<string, Promise<string>>()

/** Bundles headgate with the sites, so that each process loads it within milliseconds. */
function buildServer(folder: string): Promise<string> {
  const building = buildingIn.get(folder) ?? buildNow(folder)
  buildingIn.set(folder, building)
  return building
}

async function buildNow(folder: string): Promise<string> {
  // Agents patch packages by their names, so Express 5 needs its own below another folder.
  const express5 = join(folder, 'express5/node_modules/express')
  if (!existsSync(express5)) cpSync(join(folder, 'node_modules/express5'), express5, { recursive: true })
  const outfile = join(folder, `server-${process.pid}.cjs`)
  await build({
    entryPoints: ['test/tools/attacks/neighbors/server.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    alias: Object.fromEntries(
      ['koa', 'fastify', 'hono', 'nest']
        .map((name) => [`headgate/${name}`, `./src/${name}.ts`])
        .concat([['headgate', './src/index.ts']]),
    ),
    logLevel: 'error',
  })
  return outfile
}
