#!/bin/sh
# Makes a folder that is laid over a pod's root: make_layer.sh STAMP FOLDER (FILE PLACE | =TARGET PLACE)...
set -eu
stamp=$1 folder=$2
shift 2
rm -rf "$folder"
while [ $# -gt 0 ]; do
  mkdir -p "$folder/$(dirname "$2")"
  case $1 in
    =*) ln -s "${1#=}" "$folder/$2" ;;
    *) cp -L "$1" "$folder/$2" ;;
  esac
  shift 2
done
: > "$stamp"
