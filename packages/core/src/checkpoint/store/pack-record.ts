/** Where a content lies. Sizes and positions are bytes. */
export interface BlobPlace {
  /** Absolute path of the pack. */
  pack: string;
  /** The block that it is a part of: compressed as a whole. */
  offset: number;
  storedLength: number;
  isCompressed: boolean;
  /** Its part of the block. */
  position: number;
  length: number;
}

const HASH_BYTES = 32;
const OFFSET_BYTES = 6;
const LENGTH_BYTES = 4;

/** One of these for each content, beside its pack: hash, offset (6), three lengths (4 each), how it is stored (1). */
export const RECORD_BYTES = HASH_BYTES + OFFSET_BYTES + 3 * LENGTH_BYTES + 1;

/** `hash` is hexadecimal. */
export function writePackRecord(hash: string, place: Omit<BlobPlace, "pack">): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  let at = record.write(hash, "hex");
  at = record.writeUIntBE(place.offset, at, OFFSET_BYTES);
  for (const length of [place.storedLength, place.position, place.length])
    at = record.writeUInt32BE(length, at);
  record.writeUInt8(place.isCompressed ? 1 : 0, at);
  return record;
}

/** `start` is where the record begins in `records`, in bytes. */
export function readPackRecord(
  records: Buffer,
  start: number,
  pack: string,
): [hash: string, place: BlobPlace] {
  const hash = records.toString("hex", start, start + HASH_BYTES);
  const offset = records.readUIntBE(start + HASH_BYTES, OFFSET_BYTES);
  const lengths = start + HASH_BYTES + OFFSET_BYTES;
  const [storedLength, position, length] = [0, 1, 2].map((index) =>
    records.readUInt32BE(lengths + index * LENGTH_BYTES),
  );
  const isCompressed = records.readUInt8(lengths + 3 * LENGTH_BYTES) === 1;
  return [
    hash,
    {
      pack,
      offset,
      storedLength: storedLength ?? 0,
      isCompressed,
      position: position ?? 0,
      length: length ?? 0,
    },
  ];
}
