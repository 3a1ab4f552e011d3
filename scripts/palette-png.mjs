// Writes a PNG of 8 bits a channel anew with a palette of 256 colours: a third of the size.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE_LENGTH = 8
const MAX_COLOURS = 256
/** Colours no farther apart than this, as a square of the distance in RGB, are one. */
const SAME = 64

/** Returns a PNG with a palette. Colours beyond the palette become the nearest of it. */
export function withPalette(png) {
  const { width, height, channels, pixels } = decode(png)
  const colours = Array.from({ length: width * height }, (_, i) => pixels.readUIntBE(i * channels, 3))
  const counts = new Map()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const frequent = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour)
  const palette = paletteOf(frequent)
  const indexOf = new Map(frequent.map((colour) => [colour, nearest(colour, palette)]))

  const rows = Buffer.alloc((width + 1) * height) // the first byte of a row is its filter: none
  for (const [i, colour] of colours.entries())
    rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = indexOf.get(colour)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3], 8) // bits, and the colour type: indexed
  return Buffer.concat([
    png.subarray(0, SIGNATURE_LENGTH),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Reads the pixels of an RGB or RGBA image that is not interlaced. */
function decode(png) {
  const data = []
  for (let at = SIGNATURE_LENGTH; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  }
  const [width, height, channels] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3]
  const rowLength = width * channels
  const raw = inflateSync(Buffer.concat(data))
  const pixels = Buffer.alloc(rowLength * height)
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (rowLength + 1)]
    for (let i = 0; i < rowLength; i++) {
      const at = row * rowLength + i
      const left = i < channels ? 0 : pixels[at - channels]
      const up = row === 0 ? 0 : pixels[at - rowLength]
      const corner = row === 0 || i < channels ? 0 : pixels[at - rowLength - channels]
      pixels[at] = raw[at + row + 1] + predict(filter, left, up, corner)
    }
  }
  return { width, height, channels, pixels }
}

/** Returns what a filter adds to a byte (PNG specification, section 9.2). */
function predict(filter, left, up, corner) {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  const distances = [left, up, corner].map((value) => Math.abs(left + up - corner - value))
  return [left, up, corner][distances.indexOf(Math.min(...distances))]
}

const channelsOf = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]

/** Returns the most frequent colours that can be told apart: a rare one stays, if no other is near. */
function paletteOf(frequent) {
  const palette = []
  for (const colour of frequent) {
    if (palette.length === MAX_COLOURS) break
    if (palette.length === 0 || distance(colour, palette[nearest(colour, palette)]) > SAME)
      palette.push(colour)
  }
  return palette
}

/** Returns the index of the nearest colour. */
function nearest(colour, palette) {
  const distances = palette.map((other) => distance(colour, other))
  return distances.indexOf(Math.min(...distances))
}

function distance(a, b) {
  const others = channelsOf(b)
  return channelsOf(a).reduce((sum, value, i) => sum + (value - others[i]) ** 2, 0)
}

function chunk(type, data) {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const made = Buffer.alloc(content.length + 8)
  made.writeUInt32BE(data.length, 0)
  content.copy(made, 4)
  made.writeUInt32BE(crc32(content), content.length + 4)
  return made
}
