import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findOrInstall } from './install.js'
import { type Place, startProcess } from './processes.js'
import { HOST, ownServer, type Server } from './server.js'

/** Starts a Prometheus server that scrapes a `/metrics` page on loopback once a second. */
export async function startPrometheus(target: string): Promise<Server> {
  const program = await findOrInstall({ program: 'prometheus', debianPackage: 'prometheus' })
  const configuration = ({ folder }: Place) => join(folder, 'prometheus.yml')
  const server = await startProcess({
    name: 'prometheus',
    program,
    prepare: (place) => {
      const scrape = `scrape_configs: [{ job_name: headgate, static_configs: [{ targets: ['${target}'] }] }]`
      return writeFile(configuration(place), `global: { scrape_interval: 1s }\n${scrape}\n`)
    },
    args: (place) => [
      `--config.file=${configuration(place)}`,
      `--storage.tsdb.path=${join(place.folder, 'data')}`,
      `--web.listen-address=${HOST}:${place.port}`,
    ],
    ready: async ({ port, folder }) => {
      const response = await fetch(`http://${HOST}:${port}/api/v1/status/flags`)
      const { data } = (await response.json()) as { data?: Record<string, string> }
      return data?.['storage.tsdb.path'] === join(folder, 'data')
    },
  })
  return ownServer(server, `http://${HOST}:${server.port}`)
}
