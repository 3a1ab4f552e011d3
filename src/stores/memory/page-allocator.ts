/** Slots of a page: few, so that it is split in microseconds, and enough for pages to fill alike. */
export const SLOTS = 512
/** The size of a piece of memory, where one page is not larger. */
const PIECE_BYTES = 1 << 20

/**
 * A piece of memory with some pages in it. A slot has the hash of a key, `low` (0 = the slot is empty) and `high`, and the
 * numbers of its state right behind it, so that a look-up reads one cache line. Labels are seldom read and lie apart.
 */
export interface Piece {
  /** For each slot: `low`, `high`, and two words for each number. */
  readonly words: Int32Array
  /** The same bytes: for each slot the hash, which is no number, and the numbers. */
  readonly numbers: Float64Array
  readonly labels: Uint32Array
}

/**
 * Pages of slots, numbered without gaps; so are the slots, through all pages. They lie in pieces of about a megabyte, so
 * that growing and shrinking never copies more than one.
 */
export class PageFile {
  readonly pieces: Piece[]
  /** Numbers of a slot: the hash counts as one. */
  readonly stride: number
  /** A slot's number shifted by this is the number of its piece; the bits below are its place in there. */
  readonly shift: number
  #pages = 1

  constructor(width: number) {
    this.stride = 1 + width
    const pagesPerPiece = Math.max(1, PIECE_BYTES / (8 * SLOTS * this.stride))
    this.shift = Math.log2(SLOTS) + Math.floor(Math.log2(pagesPerPiece))
    this.pieces = [this.#piece(SLOTS)]
  }

  /** Adds an empty page at the end. */
  add(): void {
    const slots = this.#pages * SLOTS
    const last = this.pieces.at(-1) as Piece
    if (slots === this.pieces.length << this.shift) this.pieces.push(this.#piece(1 << this.shift))
    else if (slots === last.labels.length) this.#resizeOnly(2 * slots)
    this.#pages++
  }

  /** Moves the last page to where another one was. */
  moveLast(to: number): void {
    const from = this.#pages - 1
    const [source, target] = [this.#page(from), this.#page(to)]
    target.words.set(source.words)
    target.labels.set(source.labels)
    source.words.fill(0)
    this.#pages--
    const slots = this.#pages * SLOTS
    if (slots === (this.pieces.length - 1) << this.shift) this.pieces.pop()
    else if (this.pieces.length === 1 && 4 * slots <= (this.pieces[0] as Piece).labels.length) {
      this.#resizeOnly(2 * slots)
    }
  }

  #page(page: number): Pick<Piece, 'words' | 'labels'> {
    const { words, labels } = this.pieces[(page * SLOTS) >>> this.shift] as Piece
    const start = (page * SLOTS) & ((1 << this.shift) - 1)
    const perSlot = 2 * this.stride
    return {
      words: words.subarray(start * perSlot, (start + SLOTS) * perSlot),
      labels: labels.subarray(start, start + SLOTS),
    }
  }

  /** Only one that is alone is smaller than the others. */
  #resizeOnly(slots: number): void {
    const old = this.pieces[0] as Piece
    const piece = this.#piece(slots)
    piece.words.set(old.words.subarray(0, piece.words.length))
    piece.labels.set(old.labels.subarray(0, slots))
    this.pieces[0] = piece
  }

  #piece(slots: number): Piece {
    const words = new Int32Array(2 * slots * this.stride)
    return { words, numbers: new Float64Array(words.buffer), labels: new Uint32Array(slots) }
  }
}
